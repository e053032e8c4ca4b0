package settings

import "testing"

// A client on this machine reaches the service at every listen address.
func TestLocalURL(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080",
		"0.0.0.0:80":     "http://127.0.0.1:80",
		":9000":          "http://127.0.0.1:9000",
		"[::]:9000":      "http://[::1]:9000",
		"10.1.2.3:9000":  "http://10.1.2.3:9000",
		"localhost:9000": "http://localhost:9000",
	} {
		t.Run(listen, func(t *testing.T) {
			t.Parallel()
			c := Defaults()
			if err := c.Listen.UnmarshalText([]byte(listen)); err != nil {
				t.Fatal(err)
			}
			if got := c.LocalURL(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	c := Defaults()
	c.TLS.Cert = "cert.pem"
	if got, want := c.LocalURL(), "https://127.0.0.1:8080"; got != want {
		t.Errorf("with a certificate: got %q, want %q", got, want)
	}
}
