package result

import (
	"context"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// Versions returns the versions of this program: go, and as penstock the commit, if the binary or
// the git checkout around the current folder knows it. The suffix "-dirty" means that files
// differed from the commit.
func Versions(ctx context.Context) map[string]string {
	v := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	if commit := stamped(); commit != "" {
		v["penstock"] = commit
	} else if commit := described(ctx); commit != "" {
		v["penstock"] = commit
	}
	return v
}

// stamped returns the commit that go build has written into the binary. go test writes none.
func stamped() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

func described(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
