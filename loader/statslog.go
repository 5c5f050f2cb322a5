package loader

import "log/slog"

// LogValue is a group of the statistics for [slog], without Failures.
func (s Stats) LogValue() slog.Value {
	stages := make([]slog.Attr, len(s.Stages))
	for i, stage := range s.Stages {
		stages[i] = slog.Duration(stage.Name, stage.Total)
	}
	attrs := []slog.Attr{
		slog.Int64("samples", s.Samples),
		slog.Int64("batches", s.Batches),
		slog.Int64("emptied", s.Emptied),
		slog.Int64("dropped", s.Dropped),
		slog.Any("wait", slog.GroupValue(
			slog.Duration("total", s.Wait.Total),
			slog.Duration("longest", s.Wait.Longest),
			slog.Duration("first", s.Wait.First),
		)),
		slog.Duration("body", s.Body),
		slog.Int("workers", s.Workers),
		slog.Duration("busy", s.Busy),
		slog.Duration("drawing", s.Drawing),
		slog.Duration("memory_wait", s.MemoryWait),
		slog.Duration("processor_time", s.ProcessorTime),
		slog.Duration("processor_wait", s.ProcessorWait),
		slog.Any("stages", slog.GroupValue(stages...)),
		slog.Int("slabs", s.Slabs),
		slog.Int64("slab_bytes", s.SlabBytes),
		slog.Int("ready", s.Ready),
	}
	if s.NoBatch != "" {
		attrs = append(attrs, slog.String("no_batch", s.NoBatch))
	}
	if s.Tuning.Reason != "" {
		attrs = append(attrs, slog.String("tuning", s.Tuning.String()))
	}
	return slog.GroupValue(attrs...)
}
