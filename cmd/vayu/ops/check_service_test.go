package ops

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/status"
	"vayu/internal/config"
	"vayu/schema/air"
)

// A process that accepts connections and never replies is a fault. No listener is not a
// fault, because the doctor works without a service.
func TestDoctorDistinguishesHangingFromAbsentService(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := settings.Defaults()
	c.Listen = config.Address(listener.Addr().String())
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got := checkService(short, c)[0]; got.ok || !strings.Contains(got.text, "does not answer") {
		t.Errorf("of a service that hangs: %+v", got)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if got := checkService(t.Context(), c)[0]; !got.ok || !strings.Contains(got.text, "nothing listens") {
		t.Errorf("of no service: %+v", got)
	}
}

func TestASourceOnAnotherInstanceIsNoFault(t *testing.T) {
	t.Parallel()
	if got := sourceFinding("file", &status.SourceStatus{}); !got.ok {
		t.Errorf("got the finding %+v, want no fault", got)
	}
}

func TestHowOldTheNewestReadingIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 11, 2, 0, 0, time.UTC)
	readings := []air.Reading{{At: now.Add(-9 * time.Hour)}, {At: now.Add(-5*time.Hour - 32*time.Minute)}, {At: now.Add(-6 * time.Hour)}}
	if got, want := newest(readings, now), ", the newest of 2026-11-22 05:30 UTC (5h32m0s ago)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := newest(nil, now); got != "" {
		t.Errorf("without readings: %q", got)
	}
}
