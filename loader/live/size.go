package live

import (
	"io"
	"os"
	"strconv"
)

// terminalSize is the size of the terminal that w is: what the system says, otherwise
// $LINES and $COLUMNS, otherwise 24 and 80.
func terminalSize(w io.Writer) (rows, columns int) {
	if f, ok := w.(*os.File); ok {
		rows, columns = systemSize(f)
	}
	return sizeOr(rows, "LINES", 24), sizeOr(columns, "COLUMNS", 80)
}

func sizeOr(n int, variable string, usual int) int {
	if n > 0 {
		return n
	}
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	return usual
}
