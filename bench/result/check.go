package result

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Check returns an error with everything that is wrong with a record, or nil. It names fields by
// their JSON names.
func (r Record) Check() error {
	var c checks
	c.want(slices.Contains(Studies(), r.Study), "study", r.Study, "one of throughput, loading, endtoend, profile, volumes, inference")
	c.want(r.Side != "", "side", r.Side, "a name")
	c.want(!r.Date.IsZero(), "date", r.Date, "a date as 2026-11-21T09:30:00Z")
	c.want(r.Round >= 0, "round", r.Round, "0 or more")
	c.want(r.Epoch >= 0, "epoch", r.Epoch, "0 or more")
	r.Config.check(&c)
	c.want(r.Machine.CPU != "", "machine.cpu", r.Machine.CPU, "a name")
	c.want(r.Machine.Processors >= 1, "machine.processors", r.Machine.Processors, "1 or more")
	c.want(r.Machine.MemoryBytes >= 0, "machine.memory_bytes", r.Machine.MemoryBytes, "0 or more")
	r.Measured.check(&c)
	r.checkStudy(&c)
	return errors.Join(c...)
}

func (k Config) check(c *checks) {
	c.want(k.Batch >= 1, "config.batch", k.Batch, "1 or more")
	c.want(k.Workers >= 0, "config.workers", k.Workers, "0 or more")
	c.want(k.Prefetch >= 0, "config.prefetch", k.Prefetch, "0 or more")
	c.want(k.InFlight >= 0, "config.in_flight", k.InFlight, "0 or more")
	c.seconds("config.consumer_seconds", k.ConsumerSeconds)
	c.want(k.Data != "", "config.data", k.Data, "a kind of data")
	c.want(slices.Contains([]string{"", HelpOn, HelpOff}, k.Help), "config.help", k.Help, `"on", "off" or nothing`)
	c.want(slices.Contains([]string{"", FirstBatch, Epoch}, k.Span), "config.span", k.Span, `"first batch", "epoch" or nothing`)
}

func (m Measured) check(c *checks) {
	c.want(m.Samples >= 1, "measured.samples", m.Samples, "1 or more")
	c.want(m.Seconds > 0 && m.Seconds <= math.MaxFloat64, "measured.seconds", m.Seconds, "more than 0")
	if m.SamplesPerSecond != 0 && m.Seconds > 0 {
		rate := float64(m.Samples) / m.Seconds
		c.want(math.Abs(m.SamplesPerSecond-rate) <= 0.01*rate, "measured.samples_per_second", m.SamplesPerSecond,
			fmt.Sprintf("samples/seconds, which is %g", rate))
	}
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"first_batch_seconds", m.FirstBatch}, {"waiting_seconds", m.Waiting}, {"transfer_seconds", m.Transfer},
		{"compute_seconds", m.Compute}, {"loading_end_seconds", m.LoadingEnd}, {"end_to_end_seconds", m.EndToEnd},
		{"per_item_seconds", m.PerItem}, {"cpu_seconds", m.CPU},
	} {
		c.seconds("measured."+f.name, f.value)
	}
	c.want(m.HiddenShare >= 0 && m.HiddenShare <= 1, "measured.hidden_share", m.HiddenShare, "0 to 1")
	for i, w := range m.Waits {
		c.seconds(fmt.Sprintf("measured.waits_seconds[%d]", i), w)
	}
	c.want(m.Allocations >= 0, "measured.allocations", m.Allocations, "0 or more")
	c.want(m.AllocatedBytes >= 0, "measured.allocated_bytes", m.AllocatedBytes, "0 or more")
	c.want(m.DataBytes >= 0, "measured.data_bytes", m.DataBytes, "0 or more")
	m.checkUsage(c)
	m.checkStages(c)
}

func (m Measured) checkUsage(c *checks) {
	for i, u := range m.Usage {
		name := fmt.Sprintf("measured.usage[%d].", i)
		c.seconds(name+"seconds", u.Seconds)
		c.want(i == 0 || u.Seconds >= m.Usage[i-1].Seconds, name+"seconds", u.Seconds, "no less than the one before")
		c.seconds(name+"cpu_percent", u.CPUPercent)
		c.want(u.RSS >= 0, name+"rss_bytes", u.RSS, "0 or more")
	}
}

func (m Measured) checkStages(c *checks) {
	for i, s := range m.Stages {
		name := fmt.Sprintf("measured.stages[%d].", i)
		c.want(s.Name != "", name+"name", s.Name, "a name")
		c.seconds(name+"self_seconds", s.Self)
		c.seconds(name+"total_seconds", s.Total)
		c.seconds(name+"self_device_seconds", s.SelfDevice)
		c.seconds(name+"total_device_seconds", s.TotalDevice)
		c.want(s.Calls >= 0, name+"calls", s.Calls, "0 or more")
	}
}

// checkStudy checks the values that the record's study requires.
func (r Record) checkStudy(c *checks) {
	switch r.Study {
	case Loading:
		c.want(len(r.Measured.Waits) > 0, "measured.waits_seconds", r.Measured.Waits, "a time for every batch")
	case EndToEnd:
		c.want(r.Config.Model != "", "config.model", r.Config.Model, "a model")
		c.want(r.Measured.EndToEnd > 0, "measured.end_to_end_seconds", r.Measured.EndToEnd, "more than 0")
	case Profile:
		c.want(len(r.Measured.Stages) > 0, "measured.stages", r.Measured.Stages, "one or more")
		c.want(r.Config.Span != "", "config.span", r.Config.Span, `"first batch" or "epoch"`)
	case Inference:
		c.want(r.Config.Model != "", "config.model", r.Config.Model, "a model")
		c.want(r.Measured.PerItem > 0, "measured.per_item_seconds", r.Measured.PerItem, "more than 0")
	}
}

// checks collects the errors, up to a number that can still be read.
type checks []error

const maxChecks = 8

func (c *checks) want(ok bool, field string, have any, want string) {
	if ok || len(*c) > maxChecks {
		return
	}
	if len(*c) == maxChecks {
		*c = append(*c, errors.New("and more"))
		return
	}
	if s, is := have.(string); is {
		have = fmt.Sprintf("%.40q", s)
	}
	*c = append(*c, fmt.Errorf("%s: have %v, want %s", field, have, want))
}

func (c *checks) seconds(field string, v float64) {
	c.want(v >= 0 && v <= math.MaxFloat64, field, v, "0 or more")
}
