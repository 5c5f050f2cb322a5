package analysis

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/bench/result"
)

// A Subject is all that two times must have in common to be compared: everything
// but model, batch size and workers.
type Subject struct {
	Study           result.Study
	Side            string
	Data            string
	Device          string
	Help            string  // "on", "off" or empty
	Span            string  // of a profile
	ConsumerSeconds float64 // for a batch
	Prefetch        int
	InFlight        int
	Simulated       string
	Machine         result.Machine // what identifies it: CPU and processors, and the GPU where Device is one
}

// SubjectOf is the subject of a record. Programs describe one machine in more and
// in fewer words; CPU and processors must agree.
func SubjectOf(r result.Record) Subject {
	c := r.Config
	m := result.Machine{CPU: strings.Join(strings.Fields(r.Machine.CPU), " "), Processors: r.Machine.Processors}
	if c.Device != "" && c.Device != "cpu" {
		m.GPU = r.Machine.GPU
	}
	return Subject{r.Study, r.Side, c.Data, c.Device, c.Help, c.Span, c.ConsumerSeconds, c.Prefetch, c.InFlight, c.Simulated, m}
}

// String is "endtoend: photos, cpu, penstock, Help on", with what is simulated
// and without the machine.
func (s Subject) String() string {
	parts := []string{s.Data}
	if s.Device != "" {
		parts = append(parts, s.Device)
	}
	parts = append(parts, s.Variant())
	if s.Span != "" {
		parts = append(parts, s.Span)
	}
	if s.ConsumerSeconds > 0 {
		parts = append(parts, fmt.Sprintf("consumer %g s per batch", s.ConsumerSeconds))
	}
	if s.Simulated != "" {
		parts = append(parts, "simulated: "+s.Simulated)
	}
	text := strings.Join(parts, ", ")
	if s.Study == "" {
		return text
	}
	return string(s.Study) + ": " + text
}

// Variant is the side, and what of the loader's options distinguishes it from the
// same side with others: "penstock, Help off".
func (s Subject) Variant() string {
	v := s.Side
	if s.Help != "" {
		v += ", Help " + s.Help
	}
	if s.Prefetch > 0 {
		v += fmt.Sprintf(", prefetch %d", s.Prefetch)
	}
	if s.InFlight > 0 {
		v += fmt.Sprintf(", %d in flight", s.InFlight)
	}
	return v
}

// A Group is the table of one subject.
type Group struct {
	Subject
	Table *Table
}

// Groups sorts records into tables, in the order of their first records. A time
// is that of a sample, end to end where a record has it, in seconds. The first
// epoch of a loader, 0, which starts workers and fills caches, counts only where
// a configuration has no other in any round, since it is other work. A round that
// was measured again, in another file say, counts as another round.
func Groups(records []result.Record) []Group {
	var groups []Group
	index := map[Subject]int{}
	counted := newRounds(records)
	for _, r := range records {
		at, ok := counted.next(r)
		if !ok {
			continue
		}
		s := SubjectOf(r)
		i, ok := index[s]
		if !ok {
			i = len(groups)
			index[s] = i
			groups = append(groups, Group{s, &Table{}})
		}
		groups[i].Table.add(r.Config.Model, SettingOf(r), at, perSample(r.Measured))
	}
	return groups
}

// SettingOf is the setting of a record.
func SettingOf(r result.Record) Setting { return Setting{r.Config.Batch, r.Config.Workers} }

// rounds numbers the rounds of records that are given in order.
type rounds struct {
	runs map[place]int
	warm map[place]bool // has an epoch other than 0, in some round
}

// A place is where a record belongs, but for its run.
type place struct {
	Subject
	model string
	Setting
	round, epoch int
}

func placeOf(r result.Record, epoch int) place {
	return place{SubjectOf(r), r.Config.Model, SettingOf(r), r.Round, epoch}
}

// everyRound is where a record belongs, but for its round and epoch.
func everyRound(r result.Record) place {
	p := placeOf(r, 0)
	p.round = 0
	return p
}

func newRounds(records []result.Record) *rounds {
	c := &rounds{map[place]int{}, map[place]bool{}}
	for _, r := range records {
		if r.Epoch > 0 {
			c.warm[everyRound(r)] = true
		}
	}
	return c
}

// next is the round of the next record, false where the record does not count.
func (c *rounds) next(r result.Record) (round, bool) {
	if r.Epoch == 0 && c.warm[everyRound(r)] {
		return round{}, false
	}
	p := placeOf(r, r.Epoch)
	run := c.runs[p]
	c.runs[p]++
	return round{run, r.Round}, true
}
