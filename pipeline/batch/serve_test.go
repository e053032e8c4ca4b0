package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// entry is the checked part of a result.
type entry struct {
	Index  int
	Status string
	RefID  string `json:"ref_id"`
	Error  *struct{ Code, Field string }
}

// allResults reads all pages of results.
func (s *batchFixture) allResults(id string, limit int) (all []entry, lines []string) {
	s.t.Helper()
	for next := ""; ; {
		r := s.get(fmt.Sprintf("%s/%s/results?limit=%d%s", path, id, limit, next)).Want(s.t, "results", 200)
		var page struct {
			Results []json.RawMessage
			HasMore bool    `json:"has_more"`
			Next    *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(r.Text), &page); err != nil {
			s.t.Fatal(err)
		}
		for _, text := range page.Results {
			var e entry
			if err := json.Unmarshal(text, &e); err != nil {
				s.t.Fatal(err)
			}
			all, lines = append(all, e), append(lines, string(text))
		}
		if page.HasMore != (page.Next != nil) {
			s.t.Fatalf("has_more is %v, which contradicts the cursor: %s", page.HasMore, r.Text)
		}
		if n := len(page.Results); page.HasMore && n != limit {
			s.t.Fatalf("a page that is not the last has %d results, want %d: %s", n, limit, r.Text)
		}
		if page.Next == nil {
			return all, lines
		}
		next = "&cursor=" + url.QueryEscape(*page.Next)
	}
}

func (s *batchFixture) stream(id string) []string {
	s.t.Helper()
	r := s.get(path+"/"+id+"/results", "Accept", "application/x-ndjson").Want(s.t, "a stream", 200)
	if got := r.Header.Get("Content-Type"); got != "application/x-ndjson" {
		s.t.Errorf("the stream's type is %q", got)
	}
	return slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(r.Text) {
			if !yield(strings.TrimSuffix(line, "\n")) {
				return
			}
		}
	})
}

// Results have the order of the records, by pages and as lines, at any time.
func TestResultsAreInOrder(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		const n = 1234
		array, _, _ := mixed(n)
		id := s.post(s.a, array)
		queued, lines := s.allResults(id, 1000)
		for i, e := range queued {
			if e.Index != i || e.Status != "queued" {
				t.Fatalf("number %d is %+v before anything was done", i, e)
			}
		}
		if diff := cmp.Diff(lines, s.stream(id)); diff != "" || len(queued) != n {
			t.Errorf("%d are queued, and as a stream (-pages +lines):\n%s", len(queued), diff)
		}
		s.NoGrace()
		held := make(chan struct{})
		s.between = func(ctx context.Context, item item.Item) error {
			if item.Index == 500 {
				close(held)
				<-ctx.Done()
			}
			return nil
		}
		stop := s.run()
		<-held
		if e, _ := s.allResults(id, 1000); e[500].Status != "pending" {
			t.Errorf("what is under way is %+v", e[500])
		}
		stop()
		s.between = nil
		s.finishBegun()
		s.run()
		s.wait(id)
		for _, limit := range []int{1000, 617, 411} {
			all, pages := s.allResults(id, limit)
			if diff := cmp.Diff(pages, s.stream(id)); diff != "" {
				t.Errorf("pages of %d and the stream differ:\n%s", limit, diff)
			}
			for i, e := range all {
				want := entry{Index: i, Status: "success", RefID: "ref"}
				switch i % 10 {
				case 1:
					want = entry{Index: i, Status: "error", RefID: fmt.Sprint("ref ", i), Error: &struct{ Code, Field string }{"invalid_amount", "amount"}}
				case 2:
					want.Status, want.Error = "failed", &struct{ Code, Field string }{"operator_network_error", ""}
				case 3:
					want = entry{Index: i, Status: "error", Error: &struct{ Code, Field string }{"invalid_amount", "amount"}}
				}
				if diff := cmp.Diff(want, e); diff != "" {
					t.Fatalf("number %d (-want +got):\n%s", i, diff)
				}
			}
		}
	})
}

// A batch is visible to its owner only, and its cursors are valid for nothing else.
func TestBatchBelongsToItsOwner(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		first, second := s.post(s.a, "[1,2,3]"), s.post(s.a, "[1,2,3]")
		for _, key := range []string{s.a.Keys[schema.Sandbox], s.b.Keys[schema.Live]} {
			for _, below := range []string{"", "/results"} {
				s.door.Do(key, "GET", path+"/"+first+below, "").WantError(t, "another's", 404, schema.NotFound, "id")
			}
			s.door.Do(key, "GET", path+"/"+first+"/results", "", "Accept", "application/x-ndjson").WantError(t, "another's stream", 404, schema.NotFound, "id")
			if got := s.door.Do(key, "GET", path, "").Want(t, "another's list", 200).At("data").([]any); len(got) != 0 {
				t.Errorf("another's list has %v", got)
			}
		}
		for _, id := range []string{"rbt_none", "%00", strings.Repeat("r", 300), "rbt_01KAHR3M5Q7S9V1X3Z5B7D9F1H"} {
			s.get(path+"/"+id).WantError(t, id, 404, schema.NotFound, "id")
		}
		cursor := url.QueryEscape(s.get(path + "/" + first + "/results?limit=1").TextAt("next_cursor"))
		list := url.QueryEscape(s.get(path + "?limit=1").TextAt("next_cursor"))
		for target, field := range map[string]string{
			"/" + second + "/results?cursor=" + cursor: "cursor", "/" + first + "/results?cursor=" + list: "cursor", "?cursor=" + cursor: "cursor",
			"?state=queued&cursor=" + list: "cursor", "?state=expired": "state", "?limit=0": "limit", "?limit=1001": "limit", "?from=x": "from", "?to=yesterday": "to",
			"?ref_id=x&cursor=" + list: "cursor",
			"/" + first + "?x=1":       "x", "/" + first + "/results?limit=x": "limit", "/" + first + "/results?state=queued": "state",
		} {
			s.get(path+target).WantError(t, target, 400, schema.InvalidRequest, field)
		}
		for _, position := range []string{"-1", "4", "two"} {
			owner := &httpapi.Call{Principal: httpapi.Principal{Account: s.a.ID, World: schema.Sandbox}}
			forged := *pagination.Cursor(owner, "batches/recharge/"+first+"/results", position)
			s.get(path+"/"+first+"/results?cursor="+forged).WantError(t, "forged position "+position, 400, schema.InvalidRequest, "cursor")
		}
		s.get(path+"/"+first+"/results?limit=5", "Accept", "application/x-ndjson").WantError(t, "a page of a stream", 400, schema.InvalidRequest, "limit")
		s.get(path+"/"+first+"/results", "Accept", "text/csv").WantError(t, "another type", 406, schema.NotAcceptable, "Accept")
	})
}

// Lists have the newest first, all or those in a state.
func TestBatchesAreListed(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		states := map[string][]string{}
		for range 5 {
			states["completed"] = append([]string{s.post(s.a, "[{},{}]")}, states["completed"]...)
		}
		stop := s.run()
		for range 5 {
			<-s.finished
		}
		stop()
		s.NoGrace()
		held := make(chan struct{})
		s.before = func(ctx context.Context, _ item.Item) error {
			close(held)
			<-ctx.Done()
			return errAway
		}
		states["processing"] = []string{s.post(s.a, "[{}]")}
		stop = s.run()
		<-held
		stop()
		for range 3 {
			states["queued"] = append([]string{s.post(s.a, "[{}]")}, states["queued"]...)
		}
		states[""] = slices.Concat(states["queued"], states["processing"], states["completed"])
		for stands, want := range states {
			var got []string
			for next := "limit=2"; next != ""; {
				if stands != "" {
					next += "&state=" + stands
				}
				r := s.get(path+"?"+next).Want(t, "a list", 200)
				for _, one := range r.At("data").([]any) {
					got = append(got, one.(map[string]any)["batch_id"].(string))
				}
				if next = ""; r.At("has_more") == true {
					next = "limit=2&cursor=" + url.QueryEscape(r.TextAt("next_cursor"))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", stands, diff)
			}
		}
	})
}

// A kind that does not render a subject causes an internal error, and ends a stream early.
func TestSubjectWithoutRendering(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		id := s.post(s.a, records(3, "{}"))
		stop := s.run()
		s.wait(id)
		stop()
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("DELETE FROM thing WHERE place = 1")
			return err
		})
		s.get(path+"/"+id+"/results").WantError(t, "a page", 500, schema.InternalError, "")
		if got := s.get(path + "/" + id + "/results?limit=1").Status; got != 200 {
			t.Errorf("the page before is %d", got)
		}
		defer func() {
			if recover() == nil { // http.ErrAbortHandler
				t.Error("the stream seems whole")
			}
		}()
		s.get(path+"/"+id+"/results", "Accept", "application/x-ndjson")
	})
}

// Batches of different kinds are independent.
func TestKindsAreIndependent(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		kind := s.kind(1)
		for _, kinds := range [][]item.Kind{{kind, kind}, {{Name: "roomless"}}} {
			if _, err := batch.New(batch.Config{Kinds: kinds}); err == nil {
				t.Errorf("%d kinds are taken", len(kinds))
			}
		}
		other := kind
		other.Name = "verification"
		access := accesstest.Access(t, s.DB, s.clock.Now)
		service, err := batch.New(batch.Config{DB: s.DB, Cipher: accesstest.ClaimedCipher(t, s.DB), Change: access.Change, Kinds: []item.Kind{other}})
		if err != nil {
			t.Fatal(err)
		}
		id := s.post(s.a, "[1]")
		door := accesstest.NewClient(t, access, service.Routes())
		door.Do(s.a.Keys[schema.Live], "GET", path+"/"+id, "").WantError(t, "another kind's", 404, schema.NotFound, "id")
		body := `{"ref_id":"both","recharges":[1]}`
		if s.door.Do(s.a.Keys[schema.Live], "POST", path, body).TextAt("batch_id") == door.Do(s.a.Keys[schema.Live], "POST", path, body).TextAt("batch_id") {
			t.Error("a ref_id of one kind is taken in another")
		}
	})
}
