package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/authority"
)

func TestTrainersReadOverTLSWithAToken(t *testing.T) {
	ca := authority.New(t)
	cert, key := ca.Issue(t, "service")
	small := []string{"-dir", "../images/photos", "-size", "32", "-batch", "8"}
	want, err := program(t, append(small, "-local")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PENSTOCK_TOKEN", "secret")
	r := &replica{address: "127.0.0.1:0", args: append(small, "-cert", cert, "-key", key)}
	if err := r.start(t); err != nil {
		t.Fatal(err)
	}
	defer r.kill()
	python, missing := torch(t)
	for name, trainer := range map[string]func() *exec.Cmd{
		"Go": func() *exec.Cmd { return program(t, "-read", "https://"+r.address, "-ca", ca.File()) },
		"PyTorch": func() *exec.Cmd {
			return exec.CommandContext(t.Context(), python, "torch_reader.py", "https://"+r.address)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "PyTorch" && missing != nil {
				t.Skip("PENSTOCK_TORCH_PYTHON, or python3, cannot run torch_reader.py: ", missing)
			}
			t.Setenv("REQUESTS_CA_BUNDLE", ca.File())
			if got, err := trainer().Output(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
			t.Setenv("PENSTOCK_TOKEN", "wrong")
			stranger := trainer()
			var stderr bytes.Buffer
			stranger.Stderr = &stderr
			if got, err := stranger.Output(); err == nil || !strings.Contains(stderr.String(), "401") {
				t.Errorf("with a wrong token: got %q, %v, %s; want status 401", got, err, stderr.String())
			}
		})
	}
}
