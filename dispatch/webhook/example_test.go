package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"vayu/dispatch/webhook"
)

// A receiver is a handler that verifies the signature, remembers event ids, and
// replies before any slow work.
func ExampleReceiver() {
	receiver := webhook.Receiver{Secrets: []string{"whsec_of_the_subscription"}}
	seen := map[string]bool{} // a real one is a table with a unique key
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, err := receiver.Event(r)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case seen[event.ID]:
			fmt.Println("again:", event.Type)
		default:
			seen[event.ID] = true
			fmt.Println(event.Type, string(event.Data))
		}
	})

	const body = `{"id":"evt_1","type":"quota.warning","created":1795000000,"api_version":"2026-11-01","data":{"used":800}}`
	for range 2 { // delivery is at least once
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set(webhook.Header, webhook.Sign([]byte(body), time.Now(), "whsec_of_the_subscription"))
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	// Output:
	// quota.warning {"used":800}
	// again: quota.warning
}

func ExampleVerify() {
	signedAt := time.Unix(1795000000, 0)
	body := []byte(`{"id":"evt_1"}`)
	header := webhook.Sign(body, signedAt, "new secret", "old secret") // as while a secret is being replaced

	fmt.Println(webhook.Verify(body, header, signedAt, "old secret"))
	fmt.Println(webhook.Verify(body, header, signedAt.Add(6*time.Minute), "old secret"))
	fmt.Println(errors.Is(webhook.Verify(body, header, signedAt, "another"), webhook.ErrMismatch))
	// Output:
	// <nil>
	// the signature is too old: 6m0s
	// true
}

func ExampleSign() {
	fmt.Println(webhook.Sign([]byte(`{"id":"evt_1"}`), time.Unix(1795000000, 0), "whsec_of_the_subscription"))
	// Output:
	// t=1795000000,v1=0316a31ce5f171de52aa4010de6bb40bacd4bd68c79256235ece920f7f4d69d4
}
