/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

using klock::as_cpp;
using klock::u8;
using klock::usize;

namespace {

/* A word of the caller's copy, whatever its type and its alignment. */
template <typename Word>
struct part {
	using type [[gnu::may_alias, gnu::aligned(1)]] = Word;
};

/* The data, word by word or byte by byte: atomics while they are in use. */
template <typename Word>
void load(void *into, const void *data, usize bytes)
{
	auto *const to = static_cast<typename part<Word>::type *>(into);
	auto *const from = static_cast<const klock::atomic<Word> *>(data);

	for (usize i = 0; i < bytes / sizeof(Word); i++)
		to[i] = from[i].load_relaxed();
}

template <typename Word>
void store(void *data, const void *from, usize bytes)
{
	auto *const to = static_cast<klock::atomic<Word> *>(data);
	auto *const values =
		static_cast<const typename part<Word>::type *>(from);

	for (usize i = 0; i < bytes / sizeof(Word); i++)
		to[i].store_relaxed(values[i]);
}

/*
 * Whether it is copied in words. Only the data decide: it is always cut in the
 * same way.
 */
bool in_words(const void *data, usize bytes)
{
	return (reinterpret_cast<usize>(data) | bytes) % sizeof(usize) == 0;
}

void load_any(void *into, const void *data, usize bytes)
{
	if (in_words(data, bytes))
		load<usize>(into, data, bytes);
	else
		load<u8>(into, data, bytes);
}

} // namespace

void klock_seq_count_init(klock_seq_count *count) { klock::c::init(count); }

void klock_seq_count_write(klock_seq_count *count, void *data, const void *from,
			   unsigned long bytes)
{
	as_cpp(*count).write_begin();
	if (in_words(data, bytes))
		store<usize>(data, from, bytes);
	else
		store<u8>(data, from, bytes);
	as_cpp(*count).write_end();
}

void klock_seq_count_read(const klock_seq_count *count, void *into,
			  const void *data, unsigned long bytes)
{
	unsigned began;

	do {
		began = as_cpp(*count).read_begin();
		load_any(into, data, bytes);
	} while (as_cpp(*count).read_retry(began));
}

int klock_seq_count_try_read(const klock_seq_count *count, void *into,
			     const void *data, unsigned long bytes)
{
	unsigned began;

	if (!as_cpp(*count).read_try_begin(began))
		return 0;
	load_any(into, data, bytes);
	return !as_cpp(*count).read_retry(began);
}

void klock_seq_count_write_begin(klock_seq_count *count)
{
	as_cpp(*count).write_begin();
}

void klock_seq_count_write_end(klock_seq_count *count)
{
	as_cpp(*count).write_end();
}

unsigned klock_seq_count_read_begin(const klock_seq_count *count)
{
	return as_cpp(*count).read_begin();
}

int klock_seq_count_read_try_begin(const klock_seq_count *count,
				   unsigned *began)
{
	return as_cpp(*count).read_try_begin(*began);
}

int klock_seq_count_read_retry(const klock_seq_count *count, unsigned began)
{
	return as_cpp(*count).read_retry(began);
}

int klock_seq_count_is_written(const klock_seq_count *count)
{
	return as_cpp(*count).is_written();
}

void klock_barrier_init(klock_barrier *barrier) { klock::c::init(barrier); }

int klock_barrier_wait(klock_barrier *barrier, unsigned expected)
{
	return klock::as_cpp(*barrier).arrive_and_wait(expected);
}
