package trace

import (
	"strconv"
	"unicode/utf8"
)

// An event is one object of the Trace Event Format, which chrome://tracing and Perfetto
// read: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
type event struct {
	phase byte   // 'X' slice, 'i' instant, 'C' counter, 's', 't' and 'f' flow, 'M' metadata
	tid   int    // the track
	name  string // of what is drawn
	at    int64  // nanoseconds
	took  int64  // nanoseconds, of a slice
	flow  int64  // number of a flow; other events have 0
	args  []arg
}

// An arg is what a viewer shows of an event when it is selected.
type arg struct {
	key    string
	number int64
	text   string // instead of the number, if it is not empty
}

// append appends the event as JSON.
func (e *event) append(b []byte, pid int) []byte {
	b = append(b, `{"ph":"`...)
	b = append(b, e.phase)
	b = append(b, `","pid":`...)
	b = strconv.AppendInt(b, int64(pid), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, int64(e.tid), 10)
	b = append(b, `,"ts":`...)
	b = appendMicros(b, e.at)
	switch e.phase {
	case 'X':
		b = append(b, `,"dur":`...)
		b = appendMicros(b, e.took)
	case 'i':
		b = append(b, `,"s":"t"`...)
	case 's', 't', 'f':
		b = append(b, `,"cat":"batch","bp":"e","id":`...) // bp: bound to the slice around it
		b = strconv.AppendInt(b, e.flow, 10)
	}
	b = append(b, `,"name":`...)
	b = appendString(b, e.name)
	for i, a := range e.args {
		if i == 0 {
			b = append(b, `,"args":{`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, a.key)
		b = append(b, ':')
		if a.text != "" {
			b = appendString(b, a.text)
		} else {
			b = strconv.AppendInt(b, a.number, 10)
		}
	}
	if len(e.args) > 0 {
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendMicros appends nanoseconds in microseconds, exactly.
func appendMicros(b []byte, ns int64) []byte {
	ns = max(ns, 0)
	b = strconv.AppendInt(b, ns/1000, 10)
	part := ns % 1000
	return append(b, '.', byte('0'+part/100), byte('0'+part/10%10), byte('0'+part%10))
}

// maxText bounds names and errors, in bytes.
const maxText = 1000

// appendString appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD,
// and long texts are cut.
func appendString(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	cut := len(text) > maxText
	if cut {
		text = text[:maxText]
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 && cut && !utf8.FullRuneInString(text[i:]) {
				break // the cut is inside a character
			}
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	if cut {
		b = append(b, "…"...)
	}
	return append(b, '"')
}
