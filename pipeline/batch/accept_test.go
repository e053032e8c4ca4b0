package batch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// rowCounts returns the numbers of batches and of chunks.
func (s *batchFixture) rowCounts() [2]int {
	s.t.Helper()
	return [2]int{sqlstoretest.Value[int](s.t, s.DB, "SELECT COUNT(*) FROM batch"), sqlstoretest.Value[int](s.t, s.DB, "SELECT COUNT(*) FROM batch_chunk")}
}

func TestInvalidBatchIsRejected(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		for _, c := range []struct {
			body  string
			code  schema.Code
			field string
		}{
			{"", schema.InvalidRequest, ""},
			{"[]", schema.InvalidRequest, ""},
			{`"recharges"`, schema.InvalidRequest, ""},
			{"{}", schema.InvalidRequest, "recharges"},
			{`{"Recharges":[{}]}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":null}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":[]}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":{}}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":"[{}]"}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":7}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":` + records(10_001, "1") + `}`, schema.InvalidRequest, "recharges"},
			{`{"recharges":[{}],"recharges":[{}]}`, schema.InvalidJSON, "recharges"},
			{`{"recharges":[{"a":1,"a":2}]}`, schema.InvalidJSON, "recharges.0.a"},
			{`{"recharges":[{}]`, schema.InvalidJSON, ""},
			{`{"recharges":[{},]}`, schema.InvalidJSON, ""},
			{`{"recharges":[{}]} x`, schema.InvalidJSON, ""},
			{"{\"recharges\":[\"\xff\"]}", schema.InvalidJSON, ""},
			{`{"recharges":[` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `]}`, schema.InvalidJSON, ""},
			{`{"recharges":[{}],"ref_id":7}`, schema.InvalidRequest, "ref_id"},
			{`{"recharges":[{}],"ref_id":""}`, schema.InvalidRequest, "ref_id"},
			{`{"recharges":[{}],"ref_id":"a\nb"}`, schema.InvalidRequest, "ref_id"},
			{`{"recharges":[{}],"ref_id":"` + strings.Repeat("a", 256) + `"}`, schema.InvalidRequest, "ref_id"},
		} {
			s.door.Do(s.a.Keys[schema.Live], "POST", path, c.body).WantError(t, fmt.Sprintf("%.60s", c.body), 400, c.code, c.field)
		}
		s.door.Do(s.a.Keys[schema.Live], "POST", path+"?x=1", `{"recharges":[{}]}`).WantError(t, "a parameter", 400, schema.InvalidRequest, "x")
		large := `{"recharges":["` + strings.Repeat("a", 8<<20) + `"]}`
		s.door.Do(s.a.Keys[schema.Live], "POST", path, large).WantError(t, "more than 8 MiB", 413, schema.PayloadTooLarge, "")
		two := s.door.Do(s.a.Keys[schema.Live], "POST", path, `{"recharges":[],"ref_id":1}`)
		if details, _ := two.At("error.details").([]any); len(details) != 2 {
			t.Errorf("two faults: %s", two.Text)
		}
		if diff := cmp.Diff([2]int{}, s.rowCounts()); diff != "" {
			t.Errorf("something is stored: %s", diff)
		}
	})
}

// The reply has the status URL, and the records are stored in chunks.
func TestAcceptStoresChunks(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		array := "[null , \"foo\",{},\n[1, 2] ,1e400," + records(9995, `{"type":"prepaid"}`)[1:]
		got := s.door.Do(s.a.Keys[schema.Sandbox], "POST", path, `{"ref_id":null,"other":[1],"recharges":`+array+`}`).Want(t, "a batch", 202)
		id := got.TextAt("batch_id")
		want := map[string]any{"status": "accepted", "batch_id": id, "total": 10_000.0, "status_url": path + "/" + id}
		if diff := cmp.Diff(want, got.Body); diff != "" || got.Header.Get("Location") != path+"/"+id {
			t.Errorf("Location %s (-want +got):\n%s", got.Header.Get("Location"), diff)
		}
		if diff := cmp.Diff([2]int{1, 100}, s.rowCounts()); diff != "" {
			t.Error(diff)
		}
		if got := sqlstoretest.Value[string](t, s.DB, "SELECT detail FROM audit WHERE action = 'recharge.batch' AND subject = $1 AND mode = 'sandbox'", id); got != `{"total":10000}` {
			t.Errorf("the audit log says %s", got)
		}
		if got := s.metric("vayu_batch_accepted_total", "kind", "recharge"); got != 1 {
			t.Errorf("%v are counted", got)
		}
		large := `{"recharges":["` + strings.Repeat("a", 1<<20) + `","b","` + strings.Repeat("c", 1<<20) + `"]}`
		s.door.Do(s.a.Keys[schema.Sandbox], "POST", path, large).Want(t, "large records", 202)
		if diff := cmp.Diff([2]int{2, 103}, s.rowCounts()); diff != "" {
			t.Errorf("large records: %s", diff)
		}
	})
}

// A repeated batch is replayed.
func TestRepeatedBatchIsReplayed(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		live := s.a.Keys[schema.Live]
		body, other := `{"ref_id":"nov 🎉","recharges":[{},{}]}`, `{"ref_id":"nov 🎉","recharges":[{}]}`
		first := s.door.Do(live, "POST", path, body).Want(t, "first", 202)
		again := s.door.Do(live, "POST", path, body).Want(t, "again", 202)
		switch diff := cmp.Diff(first.Body, again.Body); {
		case diff != "":
			t.Errorf("again: (-want +got):\n%s", diff)
		case again.Header.Get("Idempotent-Replayed") != "true":
			t.Errorf("again: again.Header.Get(\"Idempotent-Replayed\") = %q, want \"true\"", again.Header.Get("Idempotent-Replayed"))
		case first.Header.Get("Idempotent-Replayed") != "":
			t.Errorf("again: first.Header.Get(\"Idempotent-Replayed\") = %q, want none", first.Header.Get("Idempotent-Replayed"))
		case again.Header.Get("Location") != first.Header.Get("Location"):
			t.Errorf("again: again.Header.Get(\"Location\") = %q, want %q", again.Header.Get("Location"), first.Header.Get("Location"))
		}
		s.door.Do(live, "POST", path, other).WantError(t, "another body", 409, schema.DuplicateRefID, "ref_id")
		if got := s.get(path + "/" + first.TextAt("batch_id")).TextAt("ref_id"); got != "nov 🎉" {
			t.Errorf("the ref_id is %q", got)
		}
		// References are an owner's own, and batches without one have nothing in common.
		for _, key := range []string{s.a.Keys[schema.Sandbox], s.b.Keys[schema.Live]} {
			if got := s.door.Do(key, "POST", path, other).Want(t, "another owner's", 202); got.TextAt("batch_id") == first.TextAt("batch_id") {
				t.Error("another owner got it")
			}
		}
		if one, two := s.post(s.a, "[{}]"), s.post(s.a, "[{}]"); one == two {
			t.Error("two batches without a ref_id are one")
		}
		keyed := s.door.Do(live, "POST", path, `{"recharges":[{}]}`, "Idempotency-Key", "k").Want(t, "a key", 202)
		same := s.door.Do(live, "POST", path, `{"recharges":[{}]}`, "Idempotency-Key", "k").Want(t, "the same key", 202)
		if same.Text != keyed.Text || same.Header.Get("Idempotent-Replayed") != "true" || same.Header.Get("Location") != keyed.Header.Get("Location") {
			t.Errorf("the same key: %s", same.Text)
		}
		s.door.Do(live, "POST", path, `{"recharges":[{},{}]}`, "Idempotency-Key", "k").WantError(t, "another body", 409, schema.IdempotencyConflict, "Idempotency-Key")
		if got := sqlstoretest.Value[int](t, s.DB, "SELECT COUNT(*) FROM audit WHERE action = 'recharge.batch'"); got != 6 {
			t.Errorf("the audit log has %d batches, want 6", got)
		}
	})
}

// Of concurrent batches with one ref_id, one is stored.
func TestConcurrentBatchesWithOneRefID(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		ids := make(chan string)
		const many = 20
		for range many {
			go func() {
				ids <- s.door.Do(s.a.Keys[schema.Live], "POST", path, `{"ref_id":"once","recharges":[1]}`).TextAt("batch_id")
			}()
		}
		seen := map[string]bool{}
		for range many {
			seen[<-ids] = true
		}
		if got := s.rowCounts(); len(seen) != 1 || got != [2]int{1, 1} {
			t.Errorf("stored are %v, and answered %v", got, seen)
		}
	})
}

// Of records with one ref_id the first counts, although records are processed
// concurrently.
func TestFirstRecordWithRefIDCounts(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 8, func(t *testing.T, s *batchFixture) {
		id := s.post(s.a, `[{"ref_id":"a"},{"ref_id":"b"},{"ref_id":"a"},{},{"ref_id":"a","amount":1},{}]`)
		s.run()
		s.wait(id)
		got := s.door.Do(s.a.Keys[schema.Live], "GET", path+"/"+id+"/results", "").Want(t, "the results", 200)
		var doubled []int
		for i, r := range got.At("results").([]any) {
			if strings.Contains(fmt.Sprint(r), string(schema.DuplicateRefID)) {
				doubled = append(doubled, i)
			}
		}
		if diff := cmp.Diff([]int{2, 4}, doubled); diff != "" {
			t.Errorf("refused (-want +got):\n%s\n%s", diff, got.Text)
		}
	})
}
