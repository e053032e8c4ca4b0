package verify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/sandbox"
	"vayu/schema"
)

const batchPath = "/v1/verification/batch"

// submit creates a batch in the sandbox and waits for its completion.
func (d *apiFixture) submit(records []string) (id string) {
	d.t.Helper()
	taken := d.sandbox("POST", batchPath, `{"records":[`+strings.Join(records, ",")+`]}`, "Host", "evil.example").Want(d.t, "a batch", 202)
	id = taken.TextAt("batch_id")
	if taken.TextAt("state") != "queued" || taken.At("total") != float64(len(records)) || taken.TextAt("results_url") != "https://api.example.com"+batchPath+"/"+id+"/results" {
		d.t.Errorf("it is taken on as %s", taken.Text)
	}
	fixture.Eventually(d.t, "the batch is completed", func() bool { return d.sandbox("GET", batchPath+"/"+id, "").TextAt("state") == "completed" })
	return id
}

// bulk returns the events of batches.
func (d *apiFixture) bulk() (all []schema.BulkCompleted) {
	d.t.Helper()
	err := sqlstore.Each(d.DB.View(d.t.Context()), func(row sqlstore.Scanner) error {
		var envelope []byte
		if err := row.Scan(&envelope); err != nil {
			return err
		}
		var e struct{ Data schema.BulkCompleted }
		err := json.Unmarshal(envelope, &e)
		all = append(all, e.Data)
		return err
	}, "SELECT envelope FROM event WHERE type = 'verification.bulk.completed' ORDER BY id")
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// Each record becomes a verification with its own result or refusal, in the order of sending.
// One event reports the completion of the batch, and none a single record.
func TestBatchIsProcessed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		d.sandbox("POST", path, drop("0001", "taken")).Want(t, "a single one", 200)
		records := []string{
			drop("0001", "r0"), drop("0007", "r1"), drop("0004", "r2"), address("failure@upi", "r3"), `{"vpa":"a@b@c","ref_id":"r4"}`, `17`,
			drop("0001", "r0"), drop("0001", "taken"), strings.Replace(drop("0002", "r8"), "SBIN0000691", "SBIN0ZZZZZZ", 1), address("success@upi", "r9"),
		}
		id := d.submit(records)
		done := d.sandbox("GET", batchPath+"/"+id, "")
		if done.At("successful") != 5.0 || done.At("failed") != 5.0 || done.TextAt("expires_at") == "" {
			t.Errorf("got %s", done.Text)
		}
		results := d.sandbox("GET", batchPath+"/"+id+"/results?limit=1000", "").Want(t, "results", 200)
		var page struct {
			Results []struct {
				Index  int
				Status string
				Error  *schema.Problem
			}
		}
		if err := json.Unmarshal([]byte(results.Text), &page); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, r := range page.Results {
			if r.Index != i {
				t.Errorf("result %d is that of record %d", i, r.Index)
			}
			text := fmt.Sprint(r.Index, " ", r.Status)
			if r.Error != nil {
				text += " " + string(r.Error.Code)
			}
			got = append(got, text)
		}
		want := []string{
			"0 success", "1 failed account_not_found", "2 success", "3 failed vpa_not_found", "4 error invalid_vpa", "5 error invalid_request",
			"6 error duplicate_ref_id", "7 error duplicate_ref_id", "8 error invalid_ifsc", "9 success",
		}
		// Either of two records with one ref_id may be the first.
		if got[0] == "0 error duplicate_ref_id" {
			want[0], want[6] = got[0], "6 success"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s%s", diff, results.Text)
		}
		all := d.bulk()
		if len(all) != 1 || all[0].ExpiresAt != done.TextAt("expires_at") {
			t.Fatalf("events: %+v, and it expires at %s", all, done.TextAt("expires_at"))
		}
		wantEvent := schema.BulkCompleted{
			BatchID: id, Total: 10, Successful: 5, Failed: 5, ResultsURL: "https://api.example.com" + batchPath + "/" + id + "/results", ExpiresAt: all[0].ExpiresAt,
		}
		if diff := cmp.Diff(wantEvent, all[0]); diff != "" {
			t.Errorf("the event (-want +got):\n%s", diff)
		}
		var events int
		if err := d.DB.View(t.Context()).QueryRow("SELECT count(*) FROM event").Scan(&events); err != nil || events != 2 { // and that of the single one
			t.Errorf("%d events are told, %v", events, err)
		}
		listed := read[schema.List[schema.Verification]](t, d.sandbox("GET", path+"?batch_id="+id, ""), 200)
		if len(listed.Data) != 5 {
			t.Errorf("%d are listed", len(listed.Data))
		}
		d.live("GET", batchPath+"/"+id, "").WantError(t, "in the other world", 404, schema.NotFound, "id")
	})
}

// The largest batch is processed and read in one stream.
func TestTenThousandRecordsAreVerified(t *testing.T) {
	t.Parallel()
	d := newAPIFixture(t, sqlstoretest.SQLite(t), nil)
	const total = 10_000
	records := make([]string, total)
	for i := range records {
		records[i] = fmt.Sprintf(`{"vpa":"user%d@upi","name":"Asha Rao"}`, i)
	}
	id := d.submit(records)
	done := d.sandbox("GET", batchPath+"/"+id, "")
	if done.At("successful") != float64(total) || done.At("failed") != 0.0 {
		t.Errorf("got %s", done.Text)
	}
	reply := d.sandbox("GET", batchPath+"/"+id+"/results", "", "Accept", "application/x-ndjson").Want(t, "results", 200)
	n := 0
	for line := range strings.Lines(reply.Text) {
		var r struct {
			Index int
			VPA   string
		}
		switch err := json.Unmarshal([]byte(line), &r); {
		case err != nil:
			t.Fatal(err)
		case r.Index != n:
			t.Fatalf("r.Index = %v, want %v", r.Index, n)
		case r.VPA == "":
			t.Fatal("r.VPA is empty")
		case strings.Contains(line, fmt.Sprintf("user%d@", n)):
			t.Fatalf("line = %q, want no %q in it", line, fmt.Sprintf("user%d@", n))
		}
		n++
	}
	if all := d.bulk(); n != total || len(all) != 1 || all[0].Total != total {
		t.Errorf("%d results are streamed, events %+v", n, all)
	}
	d.sandbox("POST", batchPath, `{"records":[`+records[0]+","+strings.Join(records, ",")+`]}`).WantError(t, "one too many", 400, schema.InvalidRequest, "records")
}

// Results expire a week after completion. The batch itself remains.
func TestResultsExpire(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		clock := &fixture.Clock{}
		clock.Set(time.Now())
		d := newAPIFixture(t, db, clock.Now)
		id := d.submit([]string{drop("0001", "a"), drop("0007", "b")})
		results := batchPath + "/" + id + "/results"
		clock.Advance(7*24*time.Hour - time.Minute)
		d.sandbox("GET", results, "").Want(t, "a minute before", 200)
		clock.Advance(time.Minute + time.Second)
		d.sandbox("GET", results, "").WantError(t, "afterwards", 410, schema.ResultsExpired, "id")
		if got := d.sandbox("GET", batchPath+"/"+id, "").Want(t, "the batch", 200); got.TextAt("state") != "expired" || got.At("total") != 2.0 {
			t.Errorf("got %s", got.Text)
		}
	})
}

// Slow records leave slots to others, and each completes.
func TestBatchOfSlowRecordsEnds(t *testing.T) {
	t.Parallel()
	at := sqlstore.Config{Data: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		d := newAPIFixture(t, sqlstoretest.Open(t, at), nil)
		records := make([]string, 300)
		for i := range records {
			records[i] = drop("0010", fmt.Sprint("slow ", i))
		}
		id := d.sandbox("POST", batchPath, `{"records":[`+strings.Join(records, ",")+`]}`).Want(t, "a batch", 202).TextAt("batch_id")
		time.Sleep(5 * time.Second)
		began := time.Now()
		d.wantReply("a single one meanwhile", d.sandbox("POST", path, drop("0001", "single")), exact)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
		time.Sleep(2 * time.Minute)
		if got := d.sandbox("GET", batchPath+"/"+id, ""); got.TextAt("state") != "completed" || got.At("successful") != 300.0 {
			t.Errorf("got %s, want it completed with 300 successful records", got.Text)
		}
		if got := d.bulk(); len(got) != 1 {
			t.Errorf("events of the batch: %v, want one", got)
		}
	})
}

// Without a bank a batch is refused at once, like a single verification, and nothing is
// stored.
func TestBatchWithoutBankIsRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		only, err := verify.New(verify.Config{
			Options: transaction.Options{DB: d.DB, Cipher: d.Cipher, Events: d.Events}, Settings: verify.DefaultSettings(), PublicURL: func() string { return "https://api.example.com" }, Connections: []bank.Connection{sandbox.Connection(nil)},
		})
		if err != nil {
			t.Fatal(err)
		}
		access := accesstest.Access(t, d.DB, time.Now)
		s, err := batch.New(batch.Config{DB: d.DB, Cipher: d.Cipher, Change: access.Change, Kinds: []item.Kind{only.BatchKind()}})
		if err != nil {
			t.Fatal(err)
		}
		door := accesstest.NewClient(t, access, s.Routes())
		const body = `{"records":[{"vpa":"success@upi"}]}`
		door.Do(d.tenant.Keys[schema.Live], "POST", "/v1/verification/batch", body).WantError(t, "a live batch", 503, schema.ServiceUnavailable, "method")
		door.Do(d.tenant.Keys[schema.Sandbox], "POST", "/v1/verification/batch", body).Want(t, "one of the sandbox", 202)
		var n int
		if err := d.DB.View(t.Context()).QueryRow("SELECT COUNT(*) FROM batch").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d batches are stored, %v; want that of the sandbox", n, err)
		}
	})
}
