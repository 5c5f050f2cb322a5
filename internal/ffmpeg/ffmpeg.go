// Package ffmpeg runs FFmpeg's programs, each on one local file, so that they open nothing else, end in time and leave nothing behind.
package ffmpeg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// DefaultLimit is how long a program may run, if its user says nothing else.
const DefaultLimit = 10 * time.Minute

// A Program is ffmpeg or ffprobe.
type Program struct {
	Name  string
	path  string
	limit time.Duration
	see   string // how to change the limit, for its error
}

// Find finds a program in PATH. It may run for as long as an option Timeout says, or, if limit is 0, for [DefaultLimit], which no option changes.
func Find(name string, limit time.Duration) (Program, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return Program{}, fmt.Errorf("%s is not in PATH: it belongs to FFmpeg, which has to be installed (Debian: apt-get install ffmpeg): %w", name, err)
	}
	if limit == 0 {
		return Program{name, path, DefaultLimit, ""}, nil
	}
	return Program{name, path, limit, " (see Timeout)"}, nil
}

// Input are the options before the file that is read: a local file of one of these formats, by FFmpeg's names of its demuxers, and nothing to which that refers.
func Input(file, formats string) []string {
	return []string{"-protocol_whitelist", "file,pipe", "-format_whitelist", formats, "-i", "file:" + file}
}

// Probe are the arguments of ffprobe for what it says of a stream of a file, a line each: see [Values].
func Probe(stream, entries, file, formats string) []string {
	return append([]string{"-hide_banner", "-v", "error", "-select_streams", stream, "-show_entries", entries, "-of", "compact"}, Input(file, formats)...)
}

// Pipe is how args name output k of [Program.Run].
func Pipe(k int) string {
	if k == 0 {
		return "pipe:1"
	}
	return fmt.Sprintf("pipe:%d", 2+k) // 2 is what the program says
}

// Run starts the program and calls each of uses with the output of its number, which it reads to the end. There are 1 to [Outputs], which the program may
// write in any order, so they are called at once. It returns when they and the program have ended. Input is what the program reads as [Source.Path],
// or nil.
func (p Program) Run(ctx context.Context, input *Source, args []string, uses ...func(out io.Reader) error) error {
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.path, args...)
	alone(cmd)
	cmd.WaitDelay = 2 * time.Second
	if input != nil {
		cmd.Stdin = input.file
	}
	var said tail
	cmd.Stderr = &said
	outs, err := start(cmd, len(uses))
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(limited, func() { // ends a read of what a process that is no longer there has left open
		outs.close()
		close(closed)
	})
	wrong, err := outs.use(limited, cancel, uses)
	if !stop() {
		<-closed
	}
	ended := cmd.Wait()
	outs.close()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", p.Name, ctx.Err())
	case wrong:
		return fmt.Errorf("%s: %w", p.Name, err)
	case limited.Err() != nil:
		return fmt.Errorf("%s: it has not ended within %v%s", p.Name, p.limit, p.see)
	case ended != nil:
		return fmt.Errorf("%s: %w%s", p.Name, ended, &said)
	case err != nil:
		return fmt.Errorf("%s: %w%s", p.Name, err, &said)
	}
	return nil
}

// outputs are the ends of pipes from which the outputs of a program are read.
type outputs []*os.File

// start starts a program with n outputs.
func start(cmd *exec.Cmd, n int) (outs outputs, err error) {
	var ends outputs // of the program
	defer func() {
		ends.close()
		if err != nil {
			outs.close()
		}
	}()
	for range n {
		out, end, err := os.Pipe()
		if err != nil {
			return outs, err
		}
		outs, ends = append(outs, out), append(ends, end)
	}
	cmd.Stdout, cmd.ExtraFiles = ends[0], ends[1:]
	return outs, cmd.Start()
}

func (o outputs) close() {
	for _, f := range o {
		f.Close()
	}
}

// use calls uses. It reports the first error that does not follow from another one or from the end of ctx, and whether it is more than that of an output that
// has ended too early. Such an error ends the program, and so the other outputs, by cancel.
func (o outputs) use(ctx context.Context, cancel func(), uses []func(out io.Reader) error) (wrong bool, first error) {
	var mu sync.Mutex
	use := func(k int) {
		err := uses[k](o[k])
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil || wrong || ctx.Err() != nil:
		case errors.Is(err, io.ErrUnexpectedEOF):
			first = cmp.Or(first, err)
		default:
			wrong, first = true, err
			cancel()
		}
	}
	var others sync.WaitGroup
	for k := range uses[1:] {
		others.Go(func() { use(k + 1) })
	}
	use(0)
	others.Wait()
	return wrong, first
}

// A tail is the end of what a program says.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 2 << 10
	t.text = append(t.text, p...)
	if n := len(t.text) - most; n > 0 {
		t.text = t.text[:copy(t.text, t.text[n:])]
	}
	return len(p), nil
}

// String is what was said, after a colon, in one line.
func (t *tail) String() string {
	text := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(t.text), "?"), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if text == "" {
		return ""
	}
	return ": " + text
}

// Values are those of a line that ffprobe writes with -of compact, "packet|pts=0|flags=K__". The name of the line is that of "". Of
// several values of one name it has the first.
func Values(line string) map[string]string {
	values := map[string]string{}
	for k, part := range strings.Split(line, "|") {
		name, value, ok := strings.Cut(part, "=")
		switch _, twice := values[name]; {
		case k == 0:
			values[""] = part
		case ok && !twice:
			values[name] = value
		}
	}
	return values
}

// A Source is a file that is open for a program.
type Source struct {
	file      *os.File
	temporary bool
}

// Hold is a Source of what file has, which are that many bytes. A file of the operating system is given as it is, and others are copied to a
// temporary one, because there are formats that ffmpeg reads from their end on. Close ends it.
func Hold(file io.ReaderAt, size int64) (*Source, error) {
	if f, ok := file.(*os.File); ok && reopens(f, size) {
		return &Source{file: f}, nil
	}
	f, err := os.CreateTemp("", "penstock-*")
	if err != nil {
		return nil, err
	}
	s := &Source{f, true}
	if runtime.GOOS == "linux" {
		_ = os.Remove(f.Name()) // it lasts as long as it is open, and so not longer than this process and its own
	}
	n, err := io.Copy(f, io.NewSectionReader(file, 0, size))
	if err == nil && n < size {
		err = fmt.Errorf("file ended at byte %d of %d: %w", n, size, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// reopens reports whether a program can open the file, and finds that many bytes in it.
func reopens(f *os.File, size int64) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false
	}
	if runtime.GOOS == "linux" {
		return true
	}
	named, err := os.Stat(f.Name())
	return err == nil && os.SameFile(info, named)
}

// Path is where the program finds the file.
func (s *Source) Path() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/fd/0" // which it can read anywhere, unlike its standard input, also if the file has no name any more
	}
	return s.file.Name()
}

// Close removes a copy.
func (s *Source) Close() error {
	if !s.temporary {
		return nil
	}
	err := s.file.Close()
	if runtime.GOOS != "linux" {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
