/* SPDX-License-Identifier: MIT */
/*
 * test_text_screen - lines, pages, and that only what changes is drawn
 */
#include <boot/x86/screen.hpp>
#include <catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr unsigned columns = 10;
constexpr unsigned rows = 4;

/* What has been drawn, and how often. */
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
