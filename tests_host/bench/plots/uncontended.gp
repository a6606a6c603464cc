# SPDX-License-Identifier: MIT
# gnuplot -c uncontended.gp DIR
load system(sprintf("dirname '%s'", ARG0)).'/style.gp'
file = ARG1.'/uncontended.csv'
set output ARG1.'/uncontended.svg'
set title 'Lock and unlock by one thread, to a bare lock xadd'
set ylabel 'times the lock xadd (minima)'
plot file using 0:6:(colour(strcol(2))):xtic(1) every ::1 with boxes \
	lc rgb variable notitle, \
	for [i = 1:3] NaN with boxes lc rgb colour(word(kinds, i)) \
	title word(said, i)
