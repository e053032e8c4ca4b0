package wiring

import (
	"io"
	"log/slog"
	"testing"

	"vayu/cmd/vayu/settings"
	"vayu/internal/httpapi/httpapitest"
)

// Every route has a description in the contract, and every description a route.
func TestRoutesAreTheContract(t *testing.T) {
	t.Parallel()
	cfg := settings.Defaults()
	cfg.Data = t.TempDir()
	s, err := New(cfg, slog.New(slog.DiscardHandler), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	httpapitest.Complete(t, s.routes(), []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/dashboard", "/dashboard/"})
}
