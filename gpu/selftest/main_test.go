//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/gpu/internal/fake"
)

// driverFile is the fake driver that tests run on.
var driverFile struct {
	path    string
	missing error
}

// TestMain is the program itself in the child processes.
func TestMain(m *testing.M) {
	if os.Getenv("SELFTEST") != "" {
		main()
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fake-cuda")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		_, driverFile.missing = exec.LookPath("g++")
		if driverFile.missing == nil {
			var d *fake.Driver
			if d, driverFile.missing = fake.Build(dir, "selftest.cu"); driverFile.missing == nil {
				driverFile.path = d.File
			}
		}
		return m.Run()
	}())
}

func needFake(t *testing.T) {
	t.Helper()
	if errors.Is(driverFile.missing, exec.ErrNotFound) {
		t.Skip("needs gcc and g++, to build the fake CUDA driver")
	}
	if driverFile.missing != nil {
		t.Fatal(driverFile.missing)
	}
}

// selftest runs the program and returns its output and exit code.
func selftest(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), file, args...)
	cmd.Env = append(append(os.Environ(), "SELFTEST=1"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// onFake runs checks on the fake driver with a defect, or without one.
func onFake(t *testing.T, defect string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	needFake(t)
	env := []string{"FAKE_CUDA_SPEED=1000", "FAKE_CUDA_DEFECT=" + defect}
	return selftest(t, env, append([]string{"-library", driverFile.path, "-largest", "8388608", "-launches", "20000"}, args...)...)
}

func TestEveryCheckPassesOnADriverWithoutDefects(t *testing.T) {
	out, errs, code := onFake(t, "")
	for try := 0; try < 4 && strings.Contains(out, "\noverlap failed"); try++ { // it measures time, which other programs take
		out, errs, code = onFake(t, "")
	}
	if code != 0 || strings.Count(out, " passed (") != len(checks) || !strings.Contains(out, fmt.Sprintf("\n%d checks, 0 failed\n", len(checks))) {
		t.Errorf("exit code %d, standard error %q, report:\n%s", code, errs, out)
	}
	t.Log(out)
}

// TestEveryDefectIsCaught: a driver with the defect fails that check, and its report says why.
func TestEveryDefectIsCaught(t *testing.T) {
	for _, test := range []struct{ defect, check, want string }{
		{"attribute", "page-locked", "byte 0: cuPointerGetAttribute: CUresult (1)"},
		{"flags", "page-locked", "want the bit of CU_MEMHOSTALLOC_PORTABLE"},
		{"pageable", "page-locked", "the memory is not read directly"},
		{"upload", "copies", "copies of 1 bytes, page-locked: the sum on the device is"},
		{"download", "copies", "copies of 1 bytes, page-locked: "},
		{"kernel", "copies", ": the sum on the device is"},
		{"upload", "stage", "batch 0: Download returns other data"},
		{"early", "stage", ": Download returns other data"}, // the first one may be slow to be looked at
		{"kernel", "stage", ": the sum on the device is"},
		{"serial", "overlap", "want 50 % or more"},
		{"lenient", "failures", "cuMemFree_v2 with an address that nothing is at: no error"},
		{"crash", "failures", "checkFailures"}, // the stack of the crash
		{"unnoticed", "lost", "want an error that loses the context"},
		{"forgetful", "lost", "want "},
		{"leak-device", "leaks", "20000 launches took "},
		{"hang", "copies", "checkCopies"}, // the stack of the process that does not end
	} {
		t.Run(test.check+" "+test.defect, func(t *testing.T) {
			t.Parallel() // they mostly wait
			if testing.Short() && (test.check == "leaks" || test.defect == "hang") {
				t.Skip("takes seconds")
			}
			args := []string{"-checks", test.check}
			if test.defect == "hang" {
				args = append(args, "-limit", "20s") // the checks before the copy end sooner, also on a busy machine
			}
			out, _, code := onFake(t, test.defect, args...)
			if code != exitFailed || !strings.Contains(out, "\n"+test.check+" failed: ") || !strings.Contains(out, test.want) {
				t.Errorf("exit code %d, want %d and %q in the report:\n%s", code, exitFailed, test.want, out)
			}
		})
	}
}

// TestACallThatIsDelayedOnceIsNoDefect: a busy machine may stop the process anywhere.
func TestACallThatIsDelayedOnceIsNoDefect(t *testing.T) {
	out, _, code := onFake(t, "delayed", "-checks", "page-locked")
	if code != 0 || !strings.Contains(out, "\n1 checks, 0 failed") {
		t.Errorf("exit code %d, report:\n%s", code, out)
	}
}

func TestWithoutADriverOneLineSaysSo(t *testing.T) {
	out, errs, code := selftest(t, nil)
	if code == 0 || code == exitFailed {
		t.Skip("this machine has a driver")
	}
	if code != exitNoDevice || !strings.HasPrefix(out, "penstock gpu selftest: no check was made: gpu: no CUDA device: ") || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "selftest: gpu: no CUDA device: ") {
		t.Errorf("exit code %d, output %q, standard error %q", code, out, errs)
	}
}

func TestADriverThatDoesNotWorkIsAFailure(t *testing.T) {
	out, errs, code := selftest(t, nil, "-library", "/nowhere/libcuda.so.1")
	if code != exitFailed || !strings.HasPrefix(out, "penstock gpu selftest: no check was made: gpu: load ") || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "selftest: gpu: load /nowhere/libcuda.so.1: ") {
		t.Errorf("exit code %d, output %q, standard error %q", code, out, errs)
	}
}

// TestACheckWhoseDeviceCannotBeOpenedSaysWhy, as one that was lost in the check before.
func TestACheckWhoseDeviceCannotBeOpenedSaysWhy(t *testing.T) {
	out, errs, code := selftest(t, nil, "-child", "-checks", "copies", "-library", "/nowhere/libcuda.so.1")
	if code != exitFailed || !strings.HasPrefix(out, "    gpu: load /nowhere/libcuda.so.1: ") || strings.Count(out, "\n") != 1 || errs != "" {
		t.Errorf("exit code %d, output %q, standard error %q", code, out, errs)
	}
}

func TestWrongFlagsAreErrors(t *testing.T) {
	for _, args := range [][]string{{"-checks", "magic"}, {"-checks", ""}, {"-checks", "copies,"}, {"-launches", "0"}, {"-device", "-1"}, {"argument"}, {"-largest", "1"}} {
		if out, errs, code := selftest(t, nil, args...); code != exitFlags || out != "" || !strings.Contains(errs, "want ") {
			t.Errorf("%v: exit code %d, output %q, standard error %q", args, code, out, errs)
		}
	}
}
