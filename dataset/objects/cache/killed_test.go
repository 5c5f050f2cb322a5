package cache_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-go/penstock/dataset/objects/cache"
)

const (
	killedBlocks = 60
	folderEnv    = "PENSTOCK_TEST_CACHE_FOLDER" // where a child works
	pointsEnv    = "PENSTOCK_KILLS"             // how often a child is killed; the default is 50
)

// TestChild is the process that other tests start and kill. It reads blocks through a cache until
// then.
func TestChild(t *testing.T) {
	dir := os.Getenv(folderEnv)
	if dir == "" {
		t.Skip("started by other tests")
	}
	s := newSource(killedBlocks)
	for pass := 0; ; pass++ {
		c := open(t, s, dir, s.room()/3>>(pass%2)) // deletes half of the blocks, and writes them again
		if pass == 0 {
			fmt.Println("ready")
		}
		work(t, s, c, 4)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// work reads all blocks in a random order, in several goroutines.
func work(t *testing.T, s *source, c *cache.Cache, goroutines int) {
	order := rand.Perm(s.n)
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for k := g; k < len(order); k += goroutines {
				s.read(t, c, order[k])
			}
		})
	}
	group.Wait()
	if got := c.Stats(); got.Damaged > 0 || got.DiskErrors > 0 {
		t.Fatal(got)
	}
}

// child starts a process that works in the folder, and returns a function that kills it
// after a random time and reports what it had to say.
func child(t *testing.T, dir string) (cmd *exec.Cmd, kill func() string) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), folderEnv+"="+dir)
	var text bytes.Buffer
	cmd.Stderr = &text
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // if the test has ended before
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, func() string {
		lines := bufio.NewReader(out)
		if rand.IntN(4) > 0 { // else perhaps while it opens the folder
			if line, err := lines.ReadString('\n'); line != "ready\n" {
				t.Errorf("child: %q, %v", line, err)
			}
		}
		time.Sleep(rand.N(15 * time.Millisecond))
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		rest, _ := lines.ReadString(0)
		_ = cmd.Wait() // killed
		return rest + text.String()
	}
}

// The claim for kill -9. PENSTOCK_KILLS=1000 makes it long.
func TestKilledProcessesLeaveNothingWrong(t *testing.T) {
	points := 50
	if text := os.Getenv(pointsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		points = n
	}
	s, dir := newSource(killedBlocks), t.TempDir()
	left := 0
	for point := 0; point < points; {
		var kills []func() string
		for range 1 + point%2 { // sometimes two at once
			_, kill := child(t, dir)
			kills = append(kills, kill)
		}
		for _, kill := range kills {
			if text := kill(); strings.Contains(text, "FAIL") || strings.Contains(text, "panic") {
				t.Fatalf("after %d kills: child: %s", point, text)
			}
			point++
		}
		if _, others, _ := tree(t, dir); strings.Contains(fmt.Sprint(others), ".part") {
			left++
		}
		checkFolder(t, s, dir)
		if t.Failed() {
			t.Fatalf("after %d kills", point)
		}
	}
	t.Logf("%d kills; %d of them while a block was written", points, left)
}

// checkFolder opens the folder and checks that it is in order.
func checkFolder(t *testing.T, s *source, dir string) {
	t.Helper()
	c, err := cache.New(s, dir, s.room()/3, cache.BlockSize(blockSize))
	if err != nil {
		t.Fatal(err)
	}
	blocks, others, used := tree(t, dir)
	if len(others) != 2 || !slices.Contains(others, "CACHEDIR.TAG") || !slices.Contains(others, "lock") {
		t.Errorf("besides blocks there are %v", others)
	}
	if got := c.Stats(); got.Used != used || used > got.Limit {
		t.Errorf("%d bytes in %d blocks: %v", used, len(blocks), got)
	}
	work(t, s, c, 1) // compares all bytes, and that none is damaged
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
