package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/penstock-go/penstock/loader"
)

// A record is one batch of a rank: a line of its file.
type record struct {
	Position loader.Position `json:"position"` // after the batch
	Indices  []int           `json:"indices"`  // the samples of the batch
}

// recordName is the file of a rank. It says the world size, so that a rank that never
// began is missed.
func recordName(rank, world int) string { return fmt.Sprintf("rank-%d-of-%d.jsonl", rank, world) }

// readRecords reads what all ranks of a run have recorded, a list for each rank.
func readRecords(dir string) ([][]record, error) {
	names, err := filepath.Glob(filepath.Join(dir, "rank-*-of-*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no records of a run", dir)
	}
	var rank, world int
	if _, err := fmt.Sscanf(filepath.Base(names[0]), "rank-%d-of-%d.jsonl", &rank, &world); err != nil {
		return nil, fmt.Errorf("%s: not the name of a record: %w", names[0], err)
	}
	if world < len(names) || world > 1<<16 {
		return nil, fmt.Errorf("%s holds %d records of a run of %d ranks", dir, len(names), world)
	}
	ranks := make([][]record, world)
	for rank := range ranks {
		if ranks[rank], err = readRank(filepath.Join(dir, recordName(rank, world))); err != nil {
			return nil, err
		}
	}
	return ranks, nil
}

// readRank reads the record of a rank. It leaves out a last line that a killed process did
// not complete. A file that is missing belongs to a rank that never began.
func readRank(name string) ([]record, error) {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []record
	whole := string(text[:strings.LastIndexByte(string(text), '\n')+1])
	lines := bufio.NewScanner(strings.NewReader(whole))
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, r)
	}
	return list, lines.Err()
}

// commonPosition is where a run that was killed goes on: after the last step that all of
// its ranks have completed. In training this is the step of the last checkpoint.
func commonPosition(dir string, start loader.Position) (loader.Position, error) {
	ranks, err := readRecords(dir)
	if err != nil {
		return loader.Position{}, err
	}
	var common loader.Position
	for rank, list := range ranks {
		last := start
		if len(list) > 0 {
			last = list[len(list)-1].Position
		}
		if rank == 0 || before(last, common) {
			common = last
		}
	}
	return common, nil
}

// before reports whether a lies before b in the order of the epochs.
func before(a, b loader.Position) bool {
	return a.Epoch < b.Epoch || a.Epoch == b.Epoch && a.Draw < b.Draw
}

// checkOnce checks that the run in folder out, and before it the one in after up to the
// place where out went on, have loaded every sample exactly once.
func checkOnce(out, after string) error {
	times := make([]int, samples)
	count := func(list []record, until *loader.Position) {
		for _, r := range list {
			if until != nil && before(*until, r.Position) {
				break // loaded, but not by all ranks: out has loaded it again
			}
			for _, i := range r.Indices {
				times[i]++
			}
		}
	}
	if after != "" {
		until, err := commonPosition(after, loader.Position{})
		if err != nil {
			return err
		}
		ranks, err := readRecords(after)
		if err != nil {
			return err
		}
		for _, list := range ranks {
			count(list, &until)
		}
	}
	kept := 0
	for _, n := range times {
		kept += n
	}
	ranks, err := readRecords(out)
	if err != nil {
		return err
	}
	for _, list := range ranks {
		count(list, nil)
	}
	for i, n := range times {
		if n != 1 {
			return fmt.Errorf("sample %d was loaded %d times", i, n)
		}
	}
	fmt.Printf("%d samples, each exactly once: %d before the interruption, %d by %d ranks after it\n", samples, kept, samples-kept, len(ranks))
	return nil
}
