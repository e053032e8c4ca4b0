package backfill_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"vayu/ingest/fetch"
)

// statusError returns the error of a request whose reply has a status.
func statusError(t *testing.T, status int) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	_, err := fetch.New(time.Minute, 1000).Get(t.Context(), server.URL, fetch.Validators{})
	return err
}
