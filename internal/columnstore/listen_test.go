package columnstore_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	engine "vayu/internal/columnstore/embedded"
	"vayu/internal/config"
	"vayu/internal/testing/fixture"
)

// An address that other machines reach needs TLS and a password of one's own.
func TestListenValidate(t *testing.T) {
	t.Parallel()
	own := config.NewSecret("correct horse battery")
	for name, c := range map[string]struct {
		listen columnstore.Listen
		want   string
	}{
		"none":           {columnstore.Listen{}, ""},
		"loopback":       {columnstore.Listen{Address: "127.0.0.1:8443"}, ""},
		"all":            {columnstore.Listen{Address: "0.0.0.0:8443", Cert: "c", Key: "k", Password: own}, ""},
		"no TLS":         {columnstore.Listen{Address: "0.0.0.0:8443", Password: own}, "tls-cert: 0.0.0.0:8443 is not loopback, so it needs TLS"},
		"all interfaces": {columnstore.Listen{Address: ":8443", Password: own}, "tls-cert: :8443 is not loopback"},
		"no password":    {columnstore.Listen{Address: "[::]:8443", Cert: "c", Key: "k"}, "password: [::]:8443 is not loopback, so analysts need a password"},
		"short password": {columnstore.Listen{Password: config.NewSecret("secret")}, "password: must have at least 15 characters"},
		"no key":         {columnstore.Listen{Address: "127.0.0.1:1", Cert: "c"}, "tls-key: a certificate needs its key"},
		"no port":        {columnstore.Listen{Address: "localhost"}, `address: "localhost" is not host:port`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, fault := range c.listen.Validate() {
				got.WriteString(fault.Error())
			}
			if c.want == "" && got.Len() > 0 || !strings.Contains(got.String(), c.want) {
				t.Errorf("got %q, want %q", got.String(), c.want)
			}
		})
	}
}

// Analysts of other machines log in with TLS and their own password. Administrators do not.
func TestEngineListensForAnalysts(t *testing.T) {
	t.Parallel()
	authority := fixture.NewAuthority(t)
	cert, key := authority.Files(authority.Server(), t.TempDir())
	chain, err := os.ReadFile(cert)
	if err == nil { // with the text of each certificate, as openssl writes it, a chain can be long
		err = os.WriteFile(cert, append([]byte(strings.Repeat("        Signature Algorithm: ecdsa-with-SHA256\n", 2000)), chain...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	address := refusingAddress(t) // a free port
	var data string
	columnstoretest.Start(t, func(cfg *columnstore.Config) {
		data = cfg.Data
		cfg.Listen = columnstore.Listen{Address: address, Cert: cert, Key: key, Password: config.NewSecret("correct horse battery")}
	})
	_, admin, err := engine.Access(data)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(data, "analyst.password"))
	if err != nil || strings.TrimSpace(string(written)) != "correct horse battery" {
		t.Errorf("the password file has %q, %v", written, err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12}}}
	for user, c := range map[string]struct {
		password string
		status   int
	}{
		"analyst": {"correct horse battery", http.StatusOK},
		"default": {admin, http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+"/", strings.NewReader("SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth(user, c.password)
		reply, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if reply.StatusCode != c.status {
			t.Errorf("%s: got %d %q, want %d", user, reply.StatusCode, text, c.status)
		}
	}
}
