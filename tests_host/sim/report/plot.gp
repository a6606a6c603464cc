# SPDX-License-Identifier: MIT
#
# gnuplot -c plot.gp table.csv misses.svg cycles.svg
#
# Warm colours: all wait on one line. Cold ones: each on its own, or seldom.

set datafile separator comma
set datafile missing NaN
set terminal svg size 760,420 font "sans-serif,12" background "white"
set logscale xy 2
set format y "%g"
set grid ytics lc rgb "#dddddd"
set xlabel "CPUs that contend"
set key outside right reverse Left samplen 2
set xtics (2, 8, 32, 128, 512, 1024)

locks = "ttas_lock tas_lock ticket_lock<u16> padded_ticket_lock<u32> \
tournament_lock bakery_lock mcs_lock clh_lock anderson_lock \
graunke_thakkar_lock proportional_ticket_lock<u32>"
colours = "#7f0000 #d7301f #fc8d59 #e6b800 #8c6d31 #bd9e39 \
#08306b #2171b5 #41b6c4 #7a5195 #31a354"

names = "ttas tas ticket padded_ticket tournament bakery mcs clh anderson \
graunke_thakkar proportional"

is_lock(i) = strcol("lock") eq word(locks, i)

set output ARG2
set yrange [1:*]
set ylabel "cache misses an acquisition"
plot for [i = 1:words(locks)] ARG1 using \
	(is_lock(i) ? column("cpus") : NaN):(column("misses")) \
	with linespoints pt 7 ps 0.4 lw 1.5 lc rgb word(colours, i) \
	title word(names, i) noenhanced

set output ARG3
set yrange [256:*]
set ylabel "cycles an acquisition"
plot for [i = 1:words(locks)] ARG1 using \
	(is_lock(i) ? column("cpus") : NaN):(column("cycles")) \
	with linespoints pt 7 ps 0.4 lw 1.5 lc rgb word(colours, i) \
	title word(names, i) noenhanced
