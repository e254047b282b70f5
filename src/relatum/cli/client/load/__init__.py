"""`relatum load`: JSON lines sent as commands, in order, as often as one likes.

`lines` reads them with a bound, `forms` says what a line means, `names` what `@name` stands for, `keys` which key a
line has; `plan` puts them together, line by line, and `sending` sends what it made. `report` tells how far it has come.
Nothing is kept between two runs: the keys alone make a second one harmless.
"""
