//go:build unix

package stream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset/stream"
)

func TestASpoolThatOthersMayHavePreparedIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, &numbers{n: 10}, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.New(&numbers{n: 10}, dir); err == nil || !strings.Contains(err.Error(), "other users can write to it") {
		t.Errorf("error %v", err)
	}
}

// The names of a spool's files can be foretold.
func TestNoLinkInASpoolIsWrittenThrough(t *testing.T) {
	precious := filepath.Join(t.TempDir(), "authorized_keys")
	const text = "ssh-ed25519 AAAAC3Nza victim@host\n"
	if err := os.WriteFile(precious, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lock", "spool.json", "spool.json.part", fmt.Sprintf("%020d.block.part", 0)} {
		dir := t.TempDir()
		if name == "spool.json" { // without it, the folder holds something else
			if err := open(t, &numbers{n: 10}, dir).Close(); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, name))
		}
		if err := os.Symlink(precious, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		ds, err := stream.New(&numbers{n: 10}, dir)
		if part := strings.HasSuffix(name, ".part"); part != (err == nil) { // what is left of a part is removed
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil {
			if err := ds.Close(); err != nil {
				t.Error(err)
			}
		}
		if got, err := os.ReadFile(precious); string(got) != text || err != nil {
			t.Fatalf("%s: the file behind the link has %q, %v", name, got, err)
		}
	}
}
