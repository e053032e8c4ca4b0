package ops

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"vayu/cmd/vayu/settings"
	"vayu/internal/config"
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
