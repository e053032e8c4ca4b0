package batch_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sse"
	"vayu/pipeline/batch/live"
	"vayu/schema"
)

func TestFeedFindsChangedBatches(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		look := func() (all []schema.LiveBatchNotice) {
			found, err := live.Feed{DB: s.DB, Batches: s.Kinds}.Changes(t.Context(), []sse.Query{
				{Owner: s.a.In(schema.Sandbox), Since: s.clock.Now().Add(-5 * time.Second)},
				{Owner: s.b.In(schema.Sandbox), Since: s.clock.Now().Add(-time.Hour)},
			})
			if err != nil || len(found.Cut) != 0 {
				t.Fatalf("%v, cut: %v", err, found.Cut)
			}
			for _, n := range found.Notices {
				one := n.Data.(schema.LiveBatchNotice)
				if n.Owner != s.a.In(schema.Sandbox) || n.Scope != schema.RechargeRead || n.ID != one.ID {
					t.Errorf("%+v", n)
				}
				all = append(all, one)
			}
			return all
		}
		id := s.door.Do(s.a.Keys[schema.Sandbox], http.MethodPost, path, `{"recharges":[{},{},{"do":"fail"}]}`).
			Want(t, "a batch", http.StatusAccepted).TextAt("batch_id")
		s.door.Do(s.a.Keys[schema.Live], http.MethodPost, path, `{"recharges":[{}]}`).Want(t, "one of the other world", http.StatusAccepted)
		want := schema.LiveBatchNotice{ID: id, Kind: "recharge", State: schema.BatchQueued, Total: 3}
		if diff := cmp.Diff([]schema.LiveBatchNotice{want}, look()); diff != "" {
			t.Error(diff)
		}
		s.run()
		<-s.finished
		<-s.finished
		want.State, want.Successful, want.Failed = schema.BatchCompleted, 2, 1
		if diff := cmp.Diff([]schema.LiveBatchNotice{want}, look()); diff != "" {
			t.Error(diff)
		}
	})
}
