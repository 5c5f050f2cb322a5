package files

import (
	"fmt"
	"strconv"
	"strings"
)

// A Pattern names files by numbers, as C's printf does.
type Pattern struct{ before, width, after string }

// ParsePattern splits a name at its conversion of an integer: %, a width of up to
// three digits, and d. %% is a percent sign. ok is false if the name has no
// conversion, or a different one.
func ParsePattern(name string) (p Pattern, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		rest := name[i+1:]
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			i++
			continue
		}
		after := strings.TrimLeft(rest, "0123456789")
		if width := rest[:len(rest)-len(after)]; strings.HasPrefix(after, "d") && len(width) <= 3 {
			return Pattern{b.String(), width, strings.ReplaceAll(after[1:], "%%", "%")}, true
		}
		return p, false
	}
	return p, false
}

// Number is the number that a name has, if it is that of one.
func (p Pattern) Number(name string) (n int64, ok bool) {
	digits, ok := strings.CutPrefix(name, p.before)
	if ok {
		digits, ok = strings.CutSuffix(digits, p.after)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	return n, ok && err == nil && p.Name(n) == name
}

// Name is the name with the number n.
func (p Pattern) Name(n int64) string {
	return fmt.Sprintf("%s%"+p.width+"d%s", p.before, n, p.after)
}
