package budget_test

import (
	"errors"
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/budget"
)

func TestABudgetGrowsWithItsInput(t *testing.T) {
	for _, c := range []struct {
		name  string
		take  func(*budget.Budget, int64) error
		share int64
	}{{"memory", (*budget.Budget).Memory, budget.Memory}, {"work", (*budget.Budget).Work, budget.Work}} {
		for _, input := range []int64{0, 1, 1000} {
			b := budget.For(input)
			all := budget.Base + c.share*input
			if err := c.take(&b, all-1); err != nil {
				t.Errorf("%s of %d bytes: %v", c.name, input, err)
			}
			if err := c.take(&b, 2); !errors.Is(err, budget.ErrExceeded) {
				t.Errorf("%s of %d bytes: got %v for one more than there is", c.name, input, err)
			}
			if err := c.take(&b, 1); err != nil {
				t.Errorf("%s of %d bytes: the last one: %v", c.name, input, err)
			}
			b.Read(1)
			if err := c.take(&b, c.share); err != nil {
				t.Errorf("%s of %d bytes and one more: %v", c.name, input, err)
			}
			b.Grant(5, 5)
			if err := c.take(&b, 5); err != nil {
				t.Errorf("%s of %d bytes: what was granted: %v", c.name, input, err)
			}
			if err := c.take(&b, 1); !errors.Is(err, budget.ErrExceeded) {
				t.Errorf("%s of %d bytes: got %v for more than was granted", c.name, input, err)
			}
		}
	}
}

func TestNumbersDoNotOverflow(t *testing.T) {
	b := budget.For(math.MaxInt64)
	b.Grant(math.MaxInt64, math.MaxInt64)
	b.Grant(math.MaxInt64, math.MaxInt64)
	if err := errors.Join(b.Memory(math.MaxInt64), b.Work(math.MaxInt64)); err != nil {
		t.Error(err)
	}
	for _, n := range []int64{-1, math.MinInt64} {
		if b.Memory(n) == nil || b.Work(n) == nil {
			t.Errorf("%d was taken", n)
		}
	}
	b = budget.For(-1)
	if b.Memory(budget.Base) != nil || b.Memory(1) == nil {
		t.Error("an input of unknown size has another budget than an empty one")
	}
}

func TestLevelsAreClosed(t *testing.T) {
	var b budget.Budget
	for range 3 {
		for k := range budget.Depth {
			if err := b.Enter(); err != nil {
				t.Fatalf("level %d: %v", k, err)
			}
		}
		if err := b.Enter(); !errors.Is(err, budget.ErrExceeded) {
			t.Errorf("got %v for a level too many", err)
		}
		for range budget.Depth {
			b.Leave()
		}
	}
}
