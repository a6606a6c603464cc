# SPDX-License-Identifier: MIT
# gnuplot -c contended.gp DIR
load system(sprintf("dirname '%s'", ARG0)).'/style.gp'
file = ARG1.'/contended.csv'
set output ARG1.'/contended.svg'
set title 'Throughput of two threads, by the length of the critical section'
set ylabel 'million acquisitions per second'
set logscale y
set yrange [*:*]
set format y '%g'
names = system("awk -F, 'NR > 1 && $2 != \"floor\" && !seen[$1]++ { printf \"\\\"%s\\\" \", $1 }' '" \
	.file."'")
place(name) = sum [i = 1:words(names)] (word(names, i) eq name ? i : 0)
set xtics ()
set xrange [0:words(names) + 1]
set for [i = 1:words(names)] xtics add (word(names, i) i)
plot for [s in '0 50 500'] file using (place(strcol(1))): \
	(place(strcol(1)) && $3 == 2 && $5 == s + 0 ? $7 / 1e6 : NaN) every ::1 \
	with points pt 7 ps 0.8 title s.' cycles'
