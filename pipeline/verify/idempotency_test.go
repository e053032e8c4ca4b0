package verify_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"vayu/schema"
)

const noRef = `{"account_number":"00123456780001","ifsc":"SBIN0000691","name":"Rahul Sharma"}`

// TestIdempotencyKeyMakesOneVerification also without a ref_id.
func TestIdempotencyKeyMakesOneVerification(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		first := d.sandbox("POST", path, noRef, "Idempotency-Key", "k").Want(t, "the first", 200)
		again := d.sandbox("POST", path, noRef, "Idempotency-Key", "k").Want(t, "the same again", 200)
		if again.Text != first.Text || again.Header.Get("Idempotent-Replayed") != "true" || first.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("the same again: got %v %s, want %s", again.Header, again.Text, first.Text)
		}
		d.sandbox("POST", path, `{"vpa":"success@upi"}`, "Idempotency-Key", "k").WantError(t, "another body", 409, schema.IdempotencyConflict, "Idempotency-Key")
		d.sandbox("POST", path, noRef, "Idempotency-Key", "").WantError(t, "an empty key", 400, schema.InvalidRequest, "Idempotency-Key")
		other := d.sandbox("POST", path, noRef, "Idempotency-Key", "k2").Want(t, "another key", 200)
		if other.TextAt("verification_id") == first.TextAt("verification_id") || other.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("another key: got %v %s", other.Header, other.Text)
		}
		if events := d.eventTypes(first.TextAt("verification_id")); len(events) != 1 {
			t.Errorf("events: got %q, want one", events)
		}

		refused := `{"account_number":"00123456780001","ifsc":"SBIN0999999"}`
		d.sandbox("POST", path, refused, "Idempotency-Key", "free").Want(t, "an unknown branch", 422)
		d.sandbox("POST", path, noRef, "Idempotency-Key", "free").Want(t, "the key of a refused call", http.StatusOK)
	})
}

// TestConcurrentIdempotencyKeyMakesOneVerification though they come at once.
func TestConcurrentIdempotencyKeyMakesOneVerification(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		var together sync.WaitGroup
		var fresh atomic.Int64
		var ids sync.Map
		for range 10 {
			together.Go(func() {
				r := d.sandbox("POST", path, noRef, "Idempotency-Key", "k")
				ids.Store(r.TextAt("verification_id"), r.Status)
				if r.Header.Get("Idempotent-Replayed") == "" {
					fresh.Add(1)
				}
			})
		}
		together.Wait()
		n := 0
		ids.Range(func(_, status any) bool { n++; return status == 200 })
		if n != 1 || fresh.Load() != 1 {
			t.Errorf("%d verifications were made by %d calls, want one by one", n, fresh.Load())
		}
	})
}
