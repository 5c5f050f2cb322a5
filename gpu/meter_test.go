package gpu

import (
	"testing"
	"time"
)

// TestHiddenTimeIsThatOfUploadsInLoopBodies: clock times are in seconds.
func TestHiddenTimeIsThatOfUploadsInLoopBodies(t *testing.T) {
	type step struct {
		at   int
		what string // begin (of an upload), end (of the oldest), body, leave
	}
	for name, c := range map[string]struct {
		steps          []step
		upload, hidden int
	}{
		"none in a body":        {[]step{{0, "begin"}, {3, "end"}, {3, "body"}, {9, "leave"}}, 3, 0},
		"all in a body":         {[]step{{0, "body"}, {1, "begin"}, {4, "end"}, {9, "leave"}}, 3, 3},
		"begins in a body":      {[]step{{0, "body"}, {1, "begin"}, {3, "leave"}, {8, "end"}}, 7, 2},
		"ends in a body":        {[]step{{0, "begin"}, {3, "body"}, {8, "end"}, {9, "leave"}}, 8, 5},
		"over two bodies":       {[]step{{0, "body"}, {1, "begin"}, {3, "leave"}, {4, "body"}, {6, "end"}, {7, "leave"}}, 5, 4},
		"one after the other":   {[]step{{0, "begin"}, {1, "begin"}, {4, "body"}, {5, "end"}, {7, "end"}, {8, "leave"}}, 7, 3},
		"the second waits half": {[]step{{0, "begin"}, {2, "end"}, {5, "body"}, {6, "begin"}, {8, "end"}, {9, "leave"}}, 4, 2},
	} {
		var clock time.Time
		m := meter{now: func() time.Time { return clock }}
		var begun []reading
		for _, s := range c.steps {
			clock = time.Unix(int64(s.at), 0)
			switch s.what {
			case "begin":
				begun = append(begun, m.read())
			case "end":
				m.uploaded(begun[0])
				begun = begun[1:]
			case "body":
				m.enter()
			case "leave":
				m.leave()
			}
		}
		upload, hidden := m.times()
		if upload != time.Duration(c.upload)*time.Second || hidden != time.Duration(c.hidden)*time.Second {
			t.Errorf("%s: got %v of which %v hidden, want %d s and %d s", name, upload, hidden, c.upload, c.hidden)
		}
	}
}
