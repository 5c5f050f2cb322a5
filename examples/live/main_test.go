package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// asProgram makes a copy of the test program the program itself.
const asProgram = "LIVE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is the program with flags.
func program(t *testing.T, flags ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, flags...)
	c.Env = append(os.Environ(), asProgram+"=1")
	return c
}

func TestViewEndsBeforeTheStatistics(t *testing.T) {
	text, err := program(t, "-epochs", "1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	view, stats := bytes.LastIndex(text, []byte("images: ")), bytes.Index(text, []byte("\ndelivered "))
	if view < 0 || stats < view {
		t.Errorf("the view writes last at byte %d, want it before the statistics at %d:\n%s", view, stats, text)
	}
}

func TestPageShowsTheLoaderUntilTheInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal for this")
	}
	cmd := program(t, "-epochs", "1000000")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, _ := lines.ReadString('\n')
	url := regexp.MustCompile(`http://\S+/`).FindString(line)
	response, err := http.Get(url)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	page, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 200 || !bytes.Contains(page, []byte("images")) {
		t.Errorf("status %d, %v: %s", response.StatusCode, err, page)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil || !bytes.Contains(rest, []byte("\ndelivered ")) {
		t.Errorf("stdout is %s, %v; want the statistics", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v, want the interrupt to be the usual end", err)
	}
}

func TestWrongAddressIsOneLineThatNamesIt(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		address, want string
		status        int
	}{
		{"localhost", "missing port", 2},
		{taken.Addr().String(), taken.Addr().String(), 1},
	} {
		cmd := program(t, "-http", c.address)
		text, err := cmd.CombinedOutput()
		line := string(text)
		if !strings.Contains(line, c.want) || !strings.Contains(line, "-http") || strings.Count(line, "\n") != 1 || cmd.ProcessState.ExitCode() != c.status {
			t.Errorf("%s: %v: %q, want one line with -http and %q, and status %d", c.address, err, line, c.want, c.status)
		}
	}
}
