package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A record is a file next to a shard. It is written last, so a shard that has one is complete.
type record struct {
	Job     string `json:"job"`
	Shard   string `json:"shard"` // the name of the file
	Samples int    `json:"samples"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Skipped []skip `json:"skipped,omitempty"`
}

// A skip is an image that was left out.
type skip struct {
	Image  string `json:"image"`
	Reason string `json:"reason"`
}

// A manifest lists the shards of a job that is complete.
type manifest struct {
	Job     string   `json:"job"`
	Samples int      `json:"samples"`
	Shards  []record `json:"shards"` // in the order of the images
}

const manifestName = "shards.json"

// recordName is the file name of a shard's record.
func (j *job) recordName(shard int) string {
	return strings.TrimSuffix(j.name(shard), j.Format) + "json"
}

// readRecord reads the record of a shard, and checks that the shard is there. If one of
// them is missing, the error is fs.ErrNotExist.
func (j *job) readRecord(shard int) (record, error) {
	name := j.path(j.recordName(shard))
	text, err := os.ReadFile(name)
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, fmt.Errorf("%s: %w", name, err)
	}
	first, end := j.bounds(shard)
	if r.Job != j.ID || r.Shard != j.name(shard) || r.Samples+len(r.Skipped) != end-first {
		return record{}, fmt.Errorf("%s is of a job with other images or flags: give another -out, or empty the folder", name)
	}
	info, err := os.Stat(j.path(r.Shard))
	if err != nil {
		return record{}, err
	}
	if info.Size() != r.Bytes {
		return record{}, fmt.Errorf("%s has %d bytes, want %d: remove it, and run the program again", j.path(r.Shard), info.Size(), r.Bytes)
	}
	return r, nil
}

// writeRecord writes a record in the folder dir, and gives it its name.
func (j *job) writeRecord(r record, shard int, dir string) error {
	return writeJSON(r, filepath.Join(dir, "record"), j.path(j.recordName(shard)))
}

// writeJSON writes a file under a first name, and then renames it.
func writeJSON(v any, first, name string) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.Create(first)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(first, name)
}

// check checks that all shards are there, and no others. It removes what killed workers
// have left, and writes the manifest.
func (j *job) check() (manifest, error) {
	m := manifest{Job: j.ID}
	ours := map[string]bool{manifestName: true}
	var missing []string
	for shard := range j.shards() {
		r, err := j.readRecord(shard)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, j.name(shard))
			continue
		case err != nil:
			return m, err
		}
		ours[r.Shard], ours[j.recordName(shard)] = true, true
		m.Samples += r.Samples
		m.Shards = append(m.Shards, r)
	}
	if missing != nil {
		return m, fmt.Errorf("%d of %d shards are missing, the first is %s: run the program again", len(missing), j.shards(), missing[0])
	}
	entries, err := os.ReadDir(j.Out)
	if err != nil {
		return m, err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case ours[name]:
		case leftOver(name):
			if err := os.RemoveAll(j.path(name)); err != nil {
				return m, err
			}
		default:
			return m, fmt.Errorf("%s is not of this job: give another -out, or remove the file", j.path(name))
		}
	}
	return m, writeJSON(m, j.path("."+manifestName), j.path(manifestName))
}

// leftOver reports whether a name is that of a folder in which a shard is written, or of a
// manifest that is being written.
func leftOver(name string) bool {
	shard, ok := strings.CutPrefix(name, ".")
	var i, n int
	var rest string
	_, err := fmt.Sscanf(shard, "%05d-of-%05d.%s", &i, &n, &rest)
	return ok && (err == nil || shard == manifestName)
}
