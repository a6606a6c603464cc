/* SPDX-License-Identifier: MIT */
/*
 * test_psf - which glyph a character has, and fonts that are none
 */
#include <boot/x86/screen.hpp>
#include <catch.hpp>
#include <string>
#include "font_writer.hpp"

using testing::bytes;
using testing::font_1;
using testing::font_2;
using testing::row_of;

namespace {

/* A copy that ends where the font does. */
struct opened {
	explicit opened(const bytes &of)
	{
		copy = std::make_unique<std::uint8_t[]>(of.size());
		std::memcpy(copy.get(), of.data(), of.size());
		const char *const why = font.open(copy.get(), of.size());

		trouble = why ? why : "";
	}

	/* The glyph's number; -1: none. All of it can be read. */
	long glyph(char c) const
	{
		const boot::u8 *const at = font.glyph(c);
		const auto size = font.height * font.row_size();

		if (!at)
			return -1;
		(void)bytes(at, at + size);
		return (at - first()) / static_cast<long>(size);
	}

	const boot::u8 *first() const
	{
		return copy.get() + (copy[0] == 0x36 ? 4 : 32);
	}

	std::unique_ptr<std::uint8_t[]> copy;
	boot::psf_font font;
	std::string trouble;
};

void ask_all(const opened &o)
{
	for (int c = -128; c < 128; c++)
		(void)o.glyph(static_cast<char>(c));
}

} // namespace

TEST_CASE("psf: without a table a glyph's number is its character")
{
	const opened o(
		bytes(testing::plain_font.begin(), testing::plain_font.end()));

	CHECK(o.trouble == "");
	CHECK(o.font.width == 8);
	CHECK(o.font.height == 16);
	CHECK(o.glyph('A') == 'A');
	CHECK(o.glyph('~') == '~');
	CHECK(o.glyph('\x7f') == -1);
	CHECK(o.glyph('\xe4') == -1);
	CHECK(o.font.glyph('A')[3] == row_of('A', 3));
}

TEST_CASE("psf: format 1's table, and sequences in it")
{
	/* Glyph 0: 'B', and in a sequence 'X'; 1: '\xe4', 'A'; 2: 'A' too. */
	const opened o(font_1({'B', 0xfffe, 'X', 'Y', 0xffff, 0xe4, 'A', 0xffff,
			       'A', 0xffff}));

	CHECK(o.trouble == "");
	CHECK(o.font.height == 4);
	CHECK(o.glyph('B') == 0);
	CHECK(o.glyph('A') == 1);
	CHECK(o.glyph('X') == -1);
}

TEST_CASE("psf: format 2's table, in UTF-8, and glyphs of 12 columns")
{
	const opened o(font_2(
		3, {'B', 0xfe, 'X', 0xff, 0xc3, 0xa4, 'A', 0xff, 0xff, 'Z'}));

	CHECK(o.trouble == "");
	CHECK(o.font.width == 12);
	CHECK(o.font.row_size() == 2);
	CHECK(o.glyph('B') == 0);
	CHECK(o.glyph('A') == 1);
	CHECK(o.glyph('X') == -1);
	CHECK(o.glyph('Z') == -1); /* of a fourth glyph, which is not there */
	CHECK(opened(font_2(70, {})).glyph('A') == 'A');
	CHECK(opened(font_2(65, {})).glyph('A') == -1);
}

TEST_CASE("psf: what is no font, and what is wrong with it")
{
	const std::string size =
		"the font's glyphs are of no size that boot can use";

	CHECK(opened({0}).trouble == "that is no PSF font");
	CHECK(opened({0x36, 0x04, 0}).trouble == "that is no PSF font");
	CHECK(opened({0x36, 0x04, 0, 0}).trouble == size);
	CHECK(opened({0x36, 0x04, 0, 65}).trouble == size);
	CHECK(opened({0x36, 0x04, 0, 16}).trouble ==
	      "the font is shorter than it says");
	for (std::size_t field : {24u, 28u}) {
		bytes wrong = font_2(3, {});

		testing::set(wrong, field, 0xffffffff, 4);
		CHECK(opened(wrong).trouble == size);
	}
	for (std::uint32_t head : {0u, 31u, 0xffffffffu}) {
		bytes wrong = font_2(3, {});

		testing::set(wrong, 8, head, 4);
		CHECK(opened(wrong).trouble ==
		      "the font is shorter than it says");
	}
}

TEST_CASE("psf: cut short anywhere")
{
	const bytes whole = font_2(3, {'B', 0xfe, 'X', 0xff, 'A', 0xff});

	for (std::size_t size = 1; size < whole.size(); size++) {
		const opened o(bytes(
			whole.begin(),
			whole.begin() + static_cast<std::ptrdiff_t>(size)));

		CHECK(o.trouble.empty() == (size >= 32 + 18));
		ask_all(o);
	}
}

TEST_CASE("psf: 10,000 fonts with bytes changed at random")
{
	const bytes whole = font_2(70, {'B', 0xfe, 'X', 0xff, 'A', 0xff});
	testing::dice random{1};
	unsigned fonts = 0;

	for (int i = 0; i < 10'000; i++) {
		/* The head alone: it is what can do harm. */
		bytes head(whole.begin(), whole.begin() + 32);

		random.spoil(head, 4);
		head.insert(head.end(), whole.begin() + 32, whole.end());
		const opened o(head);

		fonts += o.trouble.empty();
		for (char c : {' ', 'A', 'B', '~'})
			(void)o.glyph(c);
	}
	CHECK(fonts > 1000);
}
