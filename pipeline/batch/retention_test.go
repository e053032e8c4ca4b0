package batch_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

const (
	week     = 7 * 24 * time.Hour
	keptPath = "/v1/verification/batch"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// retentionFixture is a batchFixture with a retention of a week and a stopped clock.
type retentionFixture struct {
	*batchFixture

	handler http.Handler
}

func eachRetentionFixture(t *testing.T, do func(t *testing.T, k *retentionFixture)) {
	t.Helper()
	eachBatchFixture(t, 4, func(t *testing.T, s *batchFixture) {
		s.clock.Set(noon)
		kind := s.kind(4)
		kind.Name, kind.Prefix, kind.Path, kind.Retention = "verification", "bat_", keptPath, week
		kind.ResultsURL = func(id string) string { return "https://api.example.com" + keptPath + "/" + id + "/results" }
		access := accesstest.Access(t, s.DB, s.clock.Now)
		var err error
		s.Service, err = batch.New(batch.Config{
			DB: s.DB, Cipher: accesstest.ClaimedCipher(t, s.DB), Change: access.Change, Kinds: []item.Kind{kind}, Now: s.clock.Now,
			Log: slog.New(slog.NewTextHandler(logSignaller{s}, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		s.ShortenPauses()
		k := &retentionFixture{batchFixture: s}
		if k.handler, err = httpapi.New(httpapi.Config{Routes: s.Routes(), Access: access}); err != nil {
			t.Fatal(err)
		}
		do(t, k)
	})
}

// logSignaller is the log of a fixture with its signal.
type logSignaller struct{ *batchFixture }

// Write implements io.Writer.
func (w logSignaller) Write(p []byte) (int, error) {
	defer w.bell.Write(p)
	return w.log.Write(p)
}

// call sends a request of the first account. The contract has no such kind, so replies are
// not validated against it.
func (k *retentionFixture) call(method, target, body string, header ...string) accesstest.Reply {
	k.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+k.a.Keys[schema.Live])
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	k.handler.ServeHTTP(w, r)
	out := accesstest.Reply{Status: w.Code, Header: w.Header(), Text: w.Body.String()}
	if w.Header().Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(w.Body.Bytes(), &out.Body); err != nil {
			k.t.Error(err)
		}
	}
	return out
}

// done returns a completed batch.
func (k *retentionFixture) done(body string) item.Finished {
	k.t.Helper()
	id := k.call("POST", keptPath, body).Want(k.t, "a batch", 202).TextAt("batch_id")
	stop := k.run()
	f := k.wait(id)
	stop()
	return f
}

// listed returns the ids of the batches in a state.
func (k *retentionFixture) listed(stands string) (ids []string) {
	k.t.Helper()
	for _, one := range k.call("GET", keptPath+"?state="+stands, "").Want(k.t, stands, 200).At("data").([]any) {
		ids = append(ids, one.(map[string]any)["batch_id"].(string))
	}
	return ids
}

func TestResultsHaveURLAndExpiry(t *testing.T) {
	t.Parallel()
	eachRetentionFixture(t, func(t *testing.T, k *retentionFixture) {
		const body = `{"ref_id":"november","recharges":[{},{"do":"fail"},{"do":"refuse"}]}`
		accepted := k.call("POST", keptPath, body).Want(t, "a batch", 202)
		id := accepted.TextAt("batch_id")
		address := "https://api.example.com" + keptPath + "/" + id + "/results"
		if diff := cmp.Diff(map[string]any{
			"status": "accepted", "batch_id": id, "state": "queued", "total": 3.0, "status_url": keptPath + "/" + id, "results_url": address,
		}, accepted.Body); diff != "" {
			t.Errorf("the reply to a batch (-want +got):\n%s", diff)
		}
		shown := func(when, stands string, expires any) {
			t.Helper()
			got := []accesstest.Reply{k.call("GET", keptPath+"/"+id, "").Want(t, when, 200)}
			if stands != "expired" {
				got = append(got, k.call("GET", keptPath+"/"+id+"/results", "").Want(t, when, 200))
			}
			for _, r := range got {
				at, there := r.Body["expires_at"]
				switch {
				case r.TextAt("state") != stands:
					t.Errorf("%s: %s: r.TextAt(\"state\") = %q, want %q", when, r.Text, r.TextAt("state"), stands)
				case r.TextAt("results_url") != address:
					t.Errorf("%s: %s: r.TextAt(\"results_url\") = %q, want %q", when, r.Text, r.TextAt("results_url"), address)
				case !there:
					t.Errorf("%s: %s: there is false", when, r.Text)
				case at != expires:
					t.Errorf("%s: %s: at = %v, want %v", when, r.Text, at, expires)
				}
			}
		}
		shown("before", "queued", nil)
		stop := k.run()
		f := k.wait(id)
		stop()
		if !f.At.Equal(noon) {
			t.Errorf("it was completed at %v, want %v", f.At, noon)
		}
		const end = "2026-11-27T12:00:00Z"
		k.clock.Advance(week - time.Microsecond)
		shown("in the last moment", "completed", end)
		if diff := cmp.Diff([]string{id}, k.listed("completed")); diff != "" {
			t.Errorf("it is not listed as completed: %s", diff)
		}
		if got := k.listed("expired"); got != nil {
			t.Errorf("%q is listed as expired too soon", got)
		}
		k.clock.Advance(time.Microsecond)
		shown("afterwards", "expired", end)
		if diff := cmp.Diff([]string{id}, k.listed("expired")); diff != "" {
			t.Errorf("it is not listed as expired: %s", diff)
		}
		if got := k.listed("completed"); got != nil {
			t.Errorf("%q is still listed as completed", got)
		}
		k.call("GET", keptPath+"/"+id+"/results", "").WantError(t, "a page", 410, schema.ResultsExpired, "id")
		k.call("GET", keptPath+"/"+id+"/results", "", "Accept", "application/x-ndjson").WantError(t, "a stream", 410, schema.ResultsExpired, "id")
		again := k.call("POST", keptPath, body).Want(t, "again", 202)
		if again.TextAt("batch_id") != id || again.TextAt("state") != "expired" || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("again: %s", again.Text)
		}
		k.call("POST", keptPath, `{"ref_id":"november","recharges":[{}]}`).WantError(t, "another", 409, schema.DuplicateRefID, "ref_id")
		k.call("GET", keptPath+"?state=done", "").WantError(t, "no state", 400, schema.InvalidRequest, "state")
	})
}

// Items are deleted after the results have expired. The batch stays, and so does the work
// of a killed process.
func TestExpiredResultsAreDeleted(t *testing.T) {
	t.Parallel()
	eachRetentionFixture(t, func(t *testing.T, k *retentionFixture) {
		items := func(f item.Finished) int {
			return sqlstoretest.Value[int](t, k.DB, "SELECT COUNT(*) FROM batch_item WHERE batch_id = $1", f.ID)
		}
		unsettled := k.done(`{"recharges":` + records(7, "{}") + `}`)
		k.clock.Advance(time.Millisecond)
		old := k.done(`{"ref_id":"old","recharges":` + records(1234, "{}") + `}`)
		k.clock.Advance(time.Hour)
		fresh := k.done(`{"recharges":` + records(5, "{}") + `}`)
		sqlstoretest.Exec(t, k.DB, `INSERT INTO batch_chunk (batch_id, first, count, kind, account_id, records, due_at, token, tries)
			VALUES ($1, 0, 7, 'another''s', $2, $3, 0, '', 0)`, unsettled.ID, k.a.ID, []byte("{}"))
		k.clock.Set(noon.Add(week + time.Millisecond))
		k.PurgeAtOnce()
		stop := k.run()
		k.waitLogged(old.ID)
		stop()
		got := map[string]int{"old": items(old), "unsettled": items(unsettled), "fresh": items(fresh)}
		if diff := cmp.Diff(map[string]int{"old": 0, "unsettled": 7, "fresh": 5}, got); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
		k.call("GET", keptPath+"/"+old.ID+"/results", "").WantError(t, "a page", 410, schema.ResultsExpired, "id")
		if r := k.call("POST", keptPath, `{"ref_id":"old","recharges":`+records(1234, "{}")+`}`).Want(t, "again", 202); r.TextAt("batch_id") != old.ID {
			t.Errorf("again: %s", r.Text)
		}
		if r := k.call("GET", keptPath+"/"+old.ID, "").Want(t, "the batch", 200); r.TextAt("state") != "expired" || r.At("successful") != 1234.0 {
			t.Errorf("the batch: %s", r.Text)
		}
		if diff := cmp.Diff([]string{old.ID, unsettled.ID}, k.listed("expired")); diff != "" {
			t.Errorf("expired (-want +got):\n%s", diff)
		}
	})
}

// Lists and purges read neither long expired batches nor those of other accounts.
func TestRetentionQueriesUseIndices(t *testing.T) {
	t.Parallel()
	eachRetentionFixture(t, func(t *testing.T, k *retentionFixture) {
		sqlstoretest.Exec(t, k.DB, `INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at, finished_at, emptied_at)
			WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 20000)
			SELECT 'bat_' || CAST(100000 + i AS TEXT), CASE WHEN i % 4 < 2 THEN $1 ELSE $3 END, 'live', 'verification', NULL, $2, 'completed', 1, 1, 0, '', '', '', i, i, CASE WHEN i % 2 = 0 THEN NULL ELSE i END FROM n`,
			k.a.ID, []byte("x"), k.b.ID)
		sqlstoretest.Exec(t, k.DB, "ANALYZE")
		kind := item.Kind{Name: "verification", Prefix: "bat_", Retention: week}
		for name, q := range batch.Queries(&kind, k.a.ID, time.UnixMicro(10_000).Add(week)) {
			got := sqlstoretest.Plan(t, k.DB, q.Text, q.Args...)
			used := slices.ContainsFunc(q.Index, func(index string) bool { return strings.Contains(got, index) })
			if !used {
				t.Errorf("%s uses none of %q:\n%s", name, q.Index, got)
			}
			if strings.Contains(got, "TEMP B-TREE") && name != "a reference" && name != "all" {
				t.Errorf("%s sorts:\n%s", name, got)
			}
		}
	})
}

// A record that blocks is cancelled after a minute.
func TestRecordTimeout(t *testing.T) {
	t.Parallel()
	eachBatchFixture(t, 1, func(t *testing.T, s *batchFixture) {
		s.before = func(ctx context.Context, _ item.Item) error {
			if end, ok := ctx.Deadline(); !ok || time.Until(end) > time.Minute {
				t.Errorf("a record may be under way until %v, %v", end, ok)
			}
			return nil
		}
		id := s.post(s.a, "[{}]")
		stop := s.run()
		s.wait(id)
		stop()
	})
}
