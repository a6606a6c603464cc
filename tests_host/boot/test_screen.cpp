/* SPDX-License-Identifier: MIT */
/*
 * test_screen - glyphs, pixels, and lines of text of which only changes are
 * drawn
 */
#include <array>
#include <boot/x86/screen.hpp>
#include <catch.hpp>
#include <string>
#include <boot/x86/x86.hpp>
#include <memory>
#include <vector>
#include "fake_memory.hpp"

namespace testing {

/* Every row of a glyph: no two glyphs alike, none blank. */
constexpr std::uint8_t row_of(std::size_t glyph, std::size_t row)
{
	return static_cast<std::uint8_t>((glyph * 37 + row * 11) | 1);
}

/* 256 glyphs of 8 x 16, each at its character's number. */
constexpr auto plain_font = [] {
	std::array<std::uint8_t, 4 + 256 * 16> font = {0x36, 0x04, 0, 16};

	for (std::size_t i = 0; i < 256 * 16; i++)
		font[4 + i] = row_of(i / 16, i % 16);
	return font;
}();

inline bytes glyphs(std::size_t count, std::size_t size)
{
	bytes all;

	for (std::size_t i = 0; i < count * size; i++)
		all.push_back(row_of(i / size, i % size));
	return all;
}

/* Format 1, 512 glyphs of 8 x 4, then a table of 16-bit numbers. */
inline bytes font_1(const std::vector<unsigned> &table)
{
	bytes font = {0x36, 0x04, 0x03, 4};
	const bytes shapes = glyphs(512, 4);

	font.insert(font.end(), shapes.begin(), shapes.end());
	for (unsigned number : table)
		put(font, number, 2);
	return font;
}

/* Format 2, glyphs of 12 x 3, then a table if it is not empty. */
inline bytes font_2(std::size_t count, const bytes &table)
{
	bytes font = {0x72, 0xb5, 0x4a, 0x86};
	const bytes shapes = glyphs(count, 6);

	for (std::size_t field :
	     {std::size_t{0}, std::size_t{32}, std::size_t{!table.empty()},
	      count, std::size_t{6}, std::size_t{3}, std::size_t{12}})
		put(font, field, 4);
	font.insert(font.end(), shapes.begin(), shapes.end());
	font.insert(font.end(), table.begin(), table.end());
	return font;
}

} // namespace testing

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
struct pixels {
	pixels(unsigned bits, unsigned width, unsigned height, unsigned pitch)
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
			pixels s(bits, 645, 403, 645 * bits / 8 + spare);
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
			/* Bytes behind a line's pixels may have any value. */
			for (unsigned i = 0; i < spare; i++)
				CHECK(s.memory[s.of.pitch * 9 - 1 - i] == 0x5a);
		}
	}
}

TEST_CASE("framebuffer: on a large screen letters are larger")
{
	pixels large(32, 1920, 1080, 1920 * 4);
	const auto p = large.painter();

	CHECK(p.columns == 120);
	CHECK(p.rows == 33);
	p.draw(1, 1, 'k');
	for (unsigned x = 0; x < 16; x++)
		CHECK(large.pixel(16 + x, 33) ==
		      (testing::row_of('k', 0) >> (7 - x / 2) & 1 ? 0xaaaaaau
								  : 0));
	CHECK(pixels(32, 1024, 768, 4096).painter().columns == 128);
	CHECK(pixels(24, 800, 600, 2400).painter().columns == 100);
}

TEST_CASE("framebuffer: colours where the loader says; what has no glyph")
{
	pixels s(32, 640, 400, 2560);

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
	const pixels right(32, 640, 400, 2560);
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
	pixels far(32, 640, 400, 2560);

	mapped = false;
	CHECK(far.painter().columns == 0);
	CHECK(far.trouble == "it lies out of reach");
	mapped = true;
	CHECK(pixels(32, 0, 0, 0).painter().columns == 0);
}

namespace {

constexpr unsigned columns = 10;
constexpr unsigned rows = 4;

/* The rows that have been drawn, and the number of drawings. */
std::vector<std::string> seen;
unsigned drawn;
unsigned cursor_row, cursor_column;

void draw(unsigned row, unsigned column, char c)
{
	seen.at(row).at(column) = c;
	drawn++;
}

void move_cursor(unsigned row, unsigned column)
{
	cursor_row = row;
	cursor_column = column;
}

using screen = std::unique_ptr<boot::text_screen>;

screen made(bool is_blank = true)
{
	seen.assign(rows, std::string(columns, is_blank ? ' ' : '?'));
	drawn = 0;
	auto s = std::make_unique<boot::text_screen>();

	s->init({columns, rows, draw, move_cursor}, is_blank);
	return s;
}

void put(const screen &s, const std::string &text)
{
	for (char c : text)
		s->put(c);
}

void print(const screen &s, const std::string &text)
{
	put(s, text);
	s->show();
}

std::string row(unsigned n) { return seen[n].substr(0, 3); }

} // namespace

TEST_CASE("text_screen: a screen that is blank is not drawn, another one is")
{
	made(true);
	CHECK(drawn == 0);
	made(false);
	CHECK(drawn == rows * columns);
	CHECK(seen[3] == std::string(columns, ' '));
}

TEST_CASE("text_screen: nothing is seen before show(), then what has changed")
{
	const screen s = made();

	put(s, "abc\ndef");
	CHECK(drawn == 0);
	s->show();
	CHECK(drawn == 6);
	print(s, "g\r12");
	CHECK(drawn == 6 + 3);
	CHECK(seen[1].substr(0, 4) == "12fg");
	CHECK(cursor_row == 1);
	CHECK(cursor_column == 2);
	s->show();
	CHECK(drawn == 6 + 3);
}

TEST_CASE("text_screen: it scrolls, and cells that stay are not drawn")
{
	const screen s = made();

	print(s, "aa\nab\nac\nad");
	drawn = 0;
	print(s, "\nae");
	CHECK(row(0) == "ab ");
	CHECK(row(3) == "ae ");
	CHECK(drawn == rows); /* the second letters */
	drawn = 0;
	print(s, "\n\n\n\n\nend");
	CHECK(row(3) == "end");
	CHECK(row(0) == "   ");
	CHECK(cursor_row == 3);
}

TEST_CASE("text_screen: a line that is full wraps when more comes")
{
	const screen s = made();

	print(s, "0123456789");
	CHECK(cursor_column == columns - 1);
	print(s, "\nnext");
	CHECK(seen[0] == "0123456789");
	CHECK(row(1) == "nex");
	print(s, "\n01234567890");
	CHECK(row(3) == "0  ");
	print(s, "\r\tx\t\ty");
	CHECK(seen[2].substr(8) == "x ");
	CHECK(row(3) == "y  ");
}

TEST_CASE("text_screen: pages turn as far as there are any, and new text back")
{
	const screen s = made();

	for (char c = 'a'; c < 'k'; c++)
		print(s, std::string(c == 'a' ? "" : "\n") + c);
	CHECK(row(0) == "g  ");
	CHECK(s->has_more());
	s->turn(-1);
	CHECK(row(0) == "d  ");
	s->turn(-9);
	CHECK(row(0) == "a  ");
	s->turn(1);
	CHECK(row(0) == "d  ");
	put(s, "x");
	CHECK(row(0) == "d  ");
	s->show();
	CHECK(row(0) == "g  ");
	CHECK(row(3) == "jx ");
	s->turn(-1);
	s->turn(7);
	CHECK(row(3) == "jx ");
}

TEST_CASE("text_screen: the last lines are kept, and no page is of others")
{
	const screen s = made();

	for (unsigned i = 0; i < 3 * boot::text_screen::kept_lines; i++)
		put(s, std::to_string(i) + "\n");
	s->show();
	s->turn(-1000);
	const unsigned oldest = 2 * boot::text_screen::kept_lines + 1;

	CHECK(seen[0].substr(0, 3) == std::to_string(oldest));
	CHECK(seen[3].substr(0, 3) == std::to_string(oldest + 3));
}

TEST_CASE("text_screen: larger than there is room for; and none at all")
{
	auto s = std::make_unique<boot::text_screen>();

	seen.assign(boot::text_screen::max_rows,
		    std::string(boot::text_screen::max_columns, ' '));
	s->init({1000, 1000, draw, nullptr}, false);
	for (int i = 0; i < 100'000; i++)
		s->put('x');
	s->show();
	CHECK(seen.back() == std::string(boot::text_screen::max_columns, 'x'));

	boot::text_screen none;

	none.put('x');
	none.show();
	none.turn(-1);
	CHECK(!none.is_present());
}
