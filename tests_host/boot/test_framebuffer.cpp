/* SPDX-License-Identifier: MIT */
/*
 * test_framebuffer - the pixels of letters: 24 and 32 bits, any pitch
 */
#include <boot/x86/screen.hpp>
#include <boot/x86/width.hpp>
#include <catch.hpp>
#include <string>
#include "font_writer.hpp"

using testing::bytes;

/* The image's font, and its page tables. */
extern "C" {
extern const decltype(testing::plain_font) console_font;
extern const boot::u32 console_font_size;
const decltype(testing::plain_font) console_font = testing::plain_font;
const boot::u32 console_font_size = sizeof(testing::plain_font);
}

namespace {

bool mapped = true;

} // namespace

const char *boot::map_screen(u64, u64)
{
	return mapped ? nullptr : "it lies out of reach";
}

namespace {

/* Memory of the size that the loader says, to the byte. */
struct screen {
	screen(unsigned bits, unsigned width, unsigned height, unsigned pitch)
	    : size(std::size_t{pitch} * height),
	      memory(std::make_unique<std::uint8_t[]>(size))
	{
		std::memset(memory.get(), 0x5a, size);
		of.address = reinterpret_cast<std::uintptr_t>(memory.get());
		of.pitch = pitch;
		of.width = width;
		of.height = height;
		of.bits = static_cast<boot::u8>(bits);
		of.red = {16, 8};
		of.green = {8, 8};
		of.blue = {0, 8};
	}

	boot::screen_painter painter()
	{
		const char *why = nullptr;
		const auto p = boot::find_framebuffer(of, why);

		trouble = why ? why : "";
		return p;
	}

	std::uint32_t pixel(unsigned x, unsigned y) const
	{
		const unsigned size_of = of.bits / 8;
		std::uint32_t value = 0;

		std::memcpy(&value, &memory[y * of.pitch + x * size_of],
			    size_of);
		return value;
	}

	std::size_t size;
	std::unique_ptr<std::uint8_t[]> memory;
	boot::framebuffer of;
	std::string trouble;
};

std::string broken(const boot::framebuffer &of)
{
	const char *const why = boot::check_framebuffer(of);

	return why ? why : "";
}

} // namespace

TEST_CASE("framebuffer: a letter's pixels, and no others")
{
	for (unsigned bits : {24u, 32u}) {
		for (unsigned spare : {0u, 1u, 52u}) {
			screen s(bits, 645, 403, 645 * bits / 8 + spare);
			const auto p = s.painter();

			REQUIRE(s.trouble == "");
			CHECK(p.columns == 80);
			CHECK(p.rows == 25);
			p.draw(24, 79, 'K');
			p.draw(2, 3, 'g');
			for (unsigned y = 0; y < 16; y++) {
				for (unsigned x = 0; x < 8; x++) {
					const auto ink = [&](char c) {
						return testing::row_of(
							       static_cast<
								       unsigned>(
								       c),
							       y) >> (7 - x) &
								       1
							       ? 0xaaaaaau
							       : 0;
					};

					CHECK(s.pixel(632 + x, 384 + y) ==
					      ink('K'));
					CHECK(s.pixel(24 + x, 32 + y) ==
					      ink('g'));
				}
			}
			CHECK(s.pixel(23, 33) == 0);
			CHECK(s.pixel(32, 33) == 0);
			CHECK(s.pixel(644, 402) == 0);
			/* Behind a line's pixels there may be anything. */
			for (unsigned i = 0; i < spare; i++)
				CHECK(s.memory[s.of.pitch * 9 - 1 - i] == 0x5a);
		}
	}
}

TEST_CASE("framebuffer: on a large screen letters are larger")
{
	screen large(32, 1920, 1080, 1920 * 4);
	const auto p = large.painter();

	CHECK(p.columns == 120);
	CHECK(p.rows == 33);
	p.draw(1, 1, 'k');
	for (unsigned x = 0; x < 16; x++)
		CHECK(large.pixel(16 + x, 33) ==
		      (testing::row_of('k', 0) >> (7 - x / 2) & 1 ? 0xaaaaaau
								  : 0));
	CHECK(screen(32, 1024, 768, 4096).painter().columns == 128);
	CHECK(screen(24, 800, 600, 2400).painter().columns == 100);
}

TEST_CASE("framebuffer: colours where the loader says; what has no glyph")
{
	screen s(32, 640, 400, 2560);

	s.of.red = {0, 8};
	s.of.green = {10, 10};
	s.of.blue = {20, 12};
	const auto p = s.painter();

	p.draw(0, 0, '\xe4');
	CHECK(s.pixel(0, 0) == 0);
	CHECK(s.pixel(3, 8) == (0xaau | 682u << 10 | 2730u << 20));
	p.draw(0, 0, ' ');
	CHECK(s.pixel(7, 0) == (0xaau | 682u << 10 | 2730u << 20));
}

TEST_CASE("framebuffer: screens that boot cannot use, and why")
{
	const screen right(32, 640, 400, 2560);
	auto of = right.of;

	CHECK(broken(of) == "");
	of.bits = 16;
	CHECK(broken(of) == "its pixels have neither 24 nor 32 bits");
	of = right.of;
	of.pitch = 2559;
	CHECK(broken(of) == "its lines are shorter than its pixels");
	of = right.of;
	of.width = 0xffffffff;
	CHECK(broken(of) == "its lines are shorter than its pixels");
	for (boot::color_bits wrong :
	     {boot::color_bits{0, 0}, {25, 8}, {255, 8}, {0, 17}}) {
		of = right.of;
		of.green = wrong;
		CHECK(broken(of) == "its colours are not in its pixels");
	}
	screen far(32, 640, 400, 2560);

	mapped = false;
	CHECK(far.painter().columns == 0);
	CHECK(far.trouble == "it lies out of reach");
	mapped = true;
	CHECK(screen(32, 0, 0, 0).painter().columns == 0);
}
