package loader

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

// String is a table of the statistics and the [Stats.Verdict], for people.
func (s Stats) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	samples, batches := figures.Count(s.Samples, "sample", "samples"), figures.Count(s.Batches, "batch", "batches")
	fmt.Fprintf(w, "delivered\t%s in %s, %s dropped", samples, batches, figures.Count(s.Dropped, "sample", "samples"))
	if s.Emptied > 0 {
		fmt.Fprintf(w, ", %s emptied by that", figures.Count(s.Emptied, "batch", "batches"))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "loop waited\t%v in all, longest %v, first batch %v\n", figures.Round(s.Wait.Total), figures.Round(s.Wait.Longest), figures.Round(s.Wait.First))
	fmt.Fprintf(w, "loop body\t%v in all\n", figures.Round(s.Body))
	fmt.Fprintf(w, "workers\t%d, busy %v, waited for memory %v\n", s.Workers, figures.Round(s.Busy), figures.Round(s.MemoryWait))
	each := figures.Bytes(s.SlabBytes / int64(max(s.Slabs, 1)))
	fmt.Fprintf(w, "memory\t%s of %s, %d ready\n", figures.Count(s.Slabs, "slab", "slabs"), each, s.Ready)
	if s.Tuning.Reason != "" {
		fmt.Fprintf(w, "tuning\t%v\n", s.Tuning)
	}
	w.Flush()
	if len(s.Stages) > 0 {
		b.WriteString("\n")
		s.writeStages(&b)
	}
	if verdict := s.Verdict(); verdict != "" {
		fmt.Fprintf(&b, "\n%s\n", verdict)
	}
	return b.String()
}

func (s Stats) writeStages(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintf(w, "stage\tshare\ttotal\tcalls\tper call\t\n")
	rest := s.Busy
	for _, stage := range s.Stages {
		rest -= stage.Total
		each := time.Duration(0)
		if stage.Count > 0 {
			each = stage.Total / time.Duration(stage.Count)
		}
		fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%v\t\n", stage.Name, share(stage.Total, s.Busy), figures.Round(stage.Total), stage.Count, figures.Round(each))
	}
	fmt.Fprintf(w, "other\t%s\t%v\t\t\t\n", share(rest, s.Busy), figures.Round(rest))
}

func share(part, whole time.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
