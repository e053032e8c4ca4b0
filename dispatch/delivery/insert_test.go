package delivery_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"vayu/dispatch/delivery"
)

func TestIDsOfACallAscend(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			ids := delivery.NewIDs(now.Add(time.Duration(i)*time.Millisecond), 5000)
			if !slices.IsSorted(ids) {
				t.Errorf("caller %d: the ids do not ascend", i)
			}
		})
	}
	callers.Wait()
}
