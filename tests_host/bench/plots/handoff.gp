# SPDX-License-Identifier: MIT
# gnuplot -c handoff.gp DIR
load system(sprintf("dirname '%s'", ARG0)).'/style.gp'
file = ARG1.'/handoff.csv'
set output ARG1.'/handoff.svg'
set title 'Two threads that do nothing else: cycles per acquisition, \
to a ping-pong on one line'
set ylabel 'times the ping-pong (median; bars: quartiles)'
plot file using 0:5:6:7:(0.8):(colour(strcol(2))):xtic(1) every ::1 \
	with boxerrorbars lc rgb variable notitle, \
	for [i = 1:3] NaN with boxes lc rgb colour(word(kinds, i)) \
	title word(said, i)
