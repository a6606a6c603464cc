/* SPDX-License-Identifier: MIT */
/*
 * test_vector_mail - what was posted comes, once, the lowest first
 */
#include <boot/board/vector_mail.hpp>
#include <catch.hpp>
#include <thread>
#include <vector>

namespace {

std::vector<int> taken(boot::vector_mail &mail)
{
	std::vector<int> all;

	mail.take_vectors([&](klock::u8 vector) { all.push_back(vector); });
	return all;
}

} // namespace

TEST_CASE("vector_mail: what was posted, once, the lowest first")
{
	boot::vector_mail mail;

	mail.post(boot::last_mail_vector);
	mail.post(boot::first_mail_vector);
	mail.post(klock::u8{0x31});
	mail.post(klock::u8{0x31});
	CHECK(taken(mail) == std::vector<int>{0x30, 0x31, 0x4f});
	CHECK(taken(mail).empty());
}

TEST_CASE("vector_mail: boot's orders are apart from the vectors")
{
	boot::vector_mail mail;

	mail.post(boot::mail_stop);
	mail.post(boot::first_mail_vector);
	CHECK(taken(mail) == std::vector<int>{0x30});
	CHECK(mail.take_orders() == boot::mail_stop);
	CHECK(mail.take_orders() == 0);
	mail.post(boot::mail_wake);
	mail.post(boot::mail_stop);
	CHECK(mail.take_orders() == (boot::mail_wake | boot::mail_stop));
}

TEST_CASE("vector_mail: a vector posted while others are handled comes next")
{
	boot::vector_mail mail;
	std::vector<int> first;

	mail.post(klock::u8{0x32});
	mail.take_vectors([&](klock::u8 vector) {
		first.push_back(vector);
		mail.post(klock::u8{0x30});
		mail.post(klock::u8{0x32});
	});
	CHECK(first == std::vector<int>{0x32});
	CHECK(taken(mail) == std::vector<int>{0x30, 0x32});
}

TEST_CASE("vector_mail: of two senders none is lost")
{
	constexpr int rounds = 2000;
	boot::vector_mail mail;
	klock::atomic<unsigned> answered[2];
	const auto send = [&](unsigned who) {
		for (unsigned round = 1; round <= rounds; round++) {
			mail.post(static_cast<klock::u8>(0x30 + who));
			answered[who].await_eq_acquire(round);
		}
	};
	std::thread senders[] = {std::thread(send, 0u), std::thread(send, 1u)};

	for (int left = 2 * rounds; left > 0; std::this_thread::yield()) {
		mail.take_vectors([&](klock::u8 vector) {
			answered[vector - 0x30].fetch_add_release(1);
			left--;
		});
	}
	for (std::thread &sender : senders)
		sender.join();
	CHECK(taken(mail).empty());
}
