package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"vayu/dispatch/webhook"
)

// noon is the time at which most of these tests sign.
var noon = time.Unix(1_795_000_000, 0)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	other  = "whsec_C2FVsBQIhrscChlQIMV-b5sSYspob7oD"
)

var event = []byte(`{"id":"evt_01KAJ6V7C0N5Z2V5YB9E1WQ3RT","type":"payment.succeeded","created":1795000000,` +
	`"api_version":"2026-11-01","data":{"payment_id":"pay_1","amount":499.00,"payee":"आशा"}}`)

// plain returns the signature computed by the standard library.
func plain(key string, at int64, body []byte) string {
	h := hmac.New(sha256.New, []byte(key))
	_, _ = fmt.Fprintf(h, "%d.%s", at, body)
	return hex.EncodeToString(h.Sum(nil))
}

func TestSignIsAnHMACOfTimeAndBody(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k", secret, strings.Repeat("k", 63), strings.Repeat("k", 64), strings.Repeat("k", 65), strings.Repeat("k", 500)} {
		got, want := webhook.Sign(event, noon, key), fmt.Sprintf("t=%d,v1=%s", noon.Unix(), plain(key, noon.Unix(), event))
		if got != want {
			t.Errorf("under a secret of %d bytes:\ngot  %s\nwant %s", len(key), got, want)
		}
	}
	got := webhook.Sign(nil, time.Unix(7, 999_999_999), secret, other)
	if want := "t=7,v1=" + plain(secret, 7, nil) + ",v1=" + plain(other, 7, nil); got != want {
		t.Errorf("two secrets:\ngot  %s\nwant %s", got, want)
	}
}

func FuzzSign(f *testing.F) {
	f.Add(secret, int64(1_795_000_000), []byte("{}"))
	f.Add("", int64(-1), []byte{})
	f.Fuzz(func(t *testing.T, key string, at int64, body []byte) {
		got := webhook.Sign(body, time.Unix(at, 0), key)
		if want := fmt.Sprintf("t=%d,v1=%s", at, plain(key, at, body)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		webhook.Sign(event, noon, secret)
	}
}

func BenchmarkVerify(b *testing.B) {
	b.ReportAllocs()
	header := webhook.Sign(event, noon, secret)
	for b.Loop() {
		if err := webhook.Verify(event, header, noon, secret); err != nil {
			b.Fatal(err)
		}
	}
}
