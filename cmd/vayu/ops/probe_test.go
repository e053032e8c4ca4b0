package ops

import (
	"testing"

	"vayu/cmd/vayu/settings"
)

// A probe without a URL reaches the local service at every listen address.
func TestProbeFindsLocalService(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080",
		"0.0.0.0:80":     "http://127.0.0.1:80",
		":9000":          "http://127.0.0.1:9000",
		"[::]:9000":      "http://[::1]:9000",
		"10.1.2.3:9000":  "http://10.1.2.3:9000",
	} {
		c := settings.Defaults()
		if err := c.Listen.UnmarshalText([]byte(listen)); err != nil {
			t.Fatal(err)
		}
		if got, err := localAPI(c); err != nil || got != want {
			t.Errorf("listen %s: got %q, error %v; want %q", listen, got, err, want)
		}
	}
	c := settings.Defaults()
	c.TLS.Cert = "cert.pem"
	if got, _ := localAPI(c); got != "https://127.0.0.1:8080" {
		t.Errorf("with a certificate: got %q", got)
	}
}
