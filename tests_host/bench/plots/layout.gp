# SPDX-License-Identifier: MIT
# gnuplot -c layout.gp DIR
load system(sprintf("dirname '%s'", ARG0)).'/style.gp'
file = ARG1.'/layout.csv'
set output ARG1.'/layout.svg'
set title 'A lock beside its data, to the lock on a line of its own; \
sections of so many cycles'
set ylabel 'times the throughput'
every_lock = 4 # loads a lock, in this order
stats file using 6 every ::1 nooutput
set xrange [-1:STATS_records / every_lock]
loads = '"section 1" "section 50" "section 1, rare" "section 50, rare"'
plot for [i = 0:3] file using 0:6:xtic(1) every every_lock::(1 + i) \
	with points pt 7 ps 0.8 title word(loads, i + 1), 1 lc 'black' notitle
