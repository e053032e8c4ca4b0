package compose

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	vayu "vayu.example/sdk"
)

// patience limits the wait for a condition. Containers start slowly beside other work.
const patience = 10 * time.Minute

// deployment is the project of docker-compose.yml.
type deployment struct {
	dir     string   // the project's folder
	work    string   // files of this run
	env     []string // with the secrets
	version string   // tag of Vayu's image
}

// docker runs a command of docker and returns its output. A failure ends the test.
func (d *deployment) docker(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := d.try(tb.Context(), args...)
	if err != nil {
		tb.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (d *deployment) try(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Dir, cmd.Env = d.dir, append(os.Environ(), append(d.env, "VAYU_VERSION="+d.version)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// compose runs a command of docker compose.
func (d *deployment) compose(tb testing.TB, args ...string) string {
	tb.Helper()
	return d.docker(tb, d.files(args...)...)
}

func (*deployment) files(args ...string) []string {
	return append([]string{"compose", "--ansi", "never", "--progress", "quiet", "--file", "docker-compose.yml", "--file", ".ci/compose.d/override.yml"}, args...)
}

// container returns the id of a service's container.
func (d *deployment) container(tb testing.TB, service string) string {
	tb.Helper()
	return strings.TrimSpace(d.compose(tb, "ps", "--all", "--quiet", service))
}

// kill kills a service's first process with SIGKILL from outside, as the kernel does when memory is short. Docker must
// start the container again.
func (d *deployment) kill(tb testing.TB, service string) {
	tb.Helper()
	pid := strings.TrimSpace(d.docker(tb, "inspect", "--format", "{{.State.Pid}}", d.container(tb, service)))
	if out, err := exec.CommandContext(tb.Context(), "kill", "-9", pid).CombinedOutput(); err != nil {
		tb.Fatalf("killing %s: %v\n%s", service, err, out)
	}
}

// healthy waits until a service's container is healthy, and has started n times again.
func (d *deployment) healthy(tb testing.TB, service string, restarts int) {
	tb.Helper()
	want := fmt.Sprintf("healthy %d", restarts)
	eventually(tb, service+" is "+want, func() (string, bool) {
		is := strings.TrimSpace(d.docker(tb, "inspect", "--format", "{{.State.Health.Status}} {{.RestartCount}}", d.container(tb, service)))
		return is, is == want
	})
}

// eventually waits for a condition. is returns the present state.
func eventually(tb testing.TB, what string, is func() (state string, ok bool)) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		state, ok := is()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("waited %s: %s; now: %s", patience, what, state)
		}
		pause()
	}
}

// pause is the interval of polling a state that only other processes know.
func pause() { <-time.After(200 * time.Millisecond) }

// receiver is a client's webhook endpoint. It verifies signatures and counts events.
type receiver struct {
	mu     sync.Mutex
	secret string
	events map[string]string // the type by id
	bad    []error
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		var event vayu.Event
		if event, err = vayu.VerifyWebhook(body, req.Header, time.Now(), r.secret); err == nil {
			r.events[event.ID] = event.Type
			return
		}
	}
	r.bad = append(r.bad, err)
	w.WriteHeader(http.StatusBadRequest)
}

// count returns the number of different events of a type.
func (r *receiver) count(kind string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, is := range r.events {
		if is == kind {
			n++
		}
	}
	return n
}

// outside serves the machines outside of the deployment until the test ends: the feed of CPCB, and a receiver.
func outside(tb testing.TB, work string) *receiver {
	tb.Helper()
	r := &receiver{events: map[string]string{}}
	serve(tb, &http.Server{Addr: ":9480", Handler: http.HandlerFunc(feed), ReadHeaderTimeout: time.Minute}, "", "")
	cert, key := filepath.Join(work, "receiver.pem"), filepath.Join(work, "receiver.key")
	if err := certify("receiver.test", cert, key); err != nil {
		tb.Fatal(err)
	}
	serve(tb, &http.Server{Addr: ":9443", Handler: r, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13}}, cert, key)
	return r
}

func serve(tb testing.TB, s *http.Server, cert, key string) {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", s.Addr)
	if err != nil {
		tb.Fatal(err)
	}
	go func() {
		if cert == "" {
			_ = s.Serve(listener)
		} else {
			_ = s.ServeTLS(listener, cert, key)
		}
	}()
	tb.Cleanup(func() { _ = s.Close() })
}

// feed is a reading of Delhi in the format of CPCB's feed, of the last full hour.
func feed(w http.ResponseWriter, _ *http.Request) {
	at := time.Now().In(time.FixedZone("IST", 19_800)).Truncate(time.Hour)
	_, _ = fmt.Fprintf(w, `<?xml version='1.0' encoding='UTF-8'?>
<AqIndex><Country id="India"><State id="Delhi"><City id="Delhi">
<Station id="Made up, Delhi - TEST" lastupdate="%s" latitude="28.6" longitude="77.3">
<Pollutant_Index id="PM2.5" Min="20" Max="300" Avg="112" Hourly_sub_index="112"/>
<Pollutant_Index id="PM10" Min="20" Max="250" Avg="101" Hourly_sub_index="101"/>
<Pollutant_Index id="NO2" Min="10" Max="40" Avg="25" Hourly_sub_index="25"/>
<Pollutant_Index id="SO2" Min="10" Max="40" Avg="21" Hourly_sub_index="21"/>
<Air_Quality_Index Value="112" Predominant_Parameter="PM2.5"/></Station></City></State></Country></AqIndex>
`, at.Format("02-01-2006 15:04:05"))
}

// certify writes a certificate that is its own authority, and its key.
func certify(host, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// Containers read the certificate as another user.
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644); err != nil { //nolint:gosec // as above
		return err
	}
	return os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}

// load requests the current air of Delhi 20 times a second until its stop function is called. A request that fails is
// repeated once, a second later: a killed instance breaks the requests that it has, and on a busy machine the proxy can
// take both instances for dead. The stop function prints the numbers, and fails the test if a repetition failed.
func load(tb testing.TB, key string) (stop func(tb testing.TB)) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	var sent, repeated int
	var failed []string
	var done sync.WaitGroup
	get := func() string {
		status, body, err := call(context.WithoutCancel(ctx), http.MethodGet, "/v1/aqi?city=Delhi", key, "")
		if err == nil && status == http.StatusOK {
			return ""
		}
		return fmt.Sprintf("%s: %d %v %.200s", time.Now().Format(time.TimeOnly), status, err, body)
	}
	done.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			sent++
			if get() == "" {
				continue
			}
			repeated++
			<-time.After(time.Second)
			if fault := get(); fault != "" {
				failed = append(failed, fault)
			}
		}
	})
	return func(tb testing.TB) {
		tb.Helper()
		cancel()
		done.Wait()
		tb.Logf("%d requests, %d repeated, %d failed", sent, repeated, len(failed))
		if len(failed) > 0 {
			tb.Errorf("failed requests:\n%s", strings.Join(failed, "\n"))
		}
	}
}

// call makes one call through the proxy, without retries.
func call(ctx context.Context, method, path, key, body string) (status int, reply []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	reply, err = io.ReadAll(resp.Body)
	return resp.StatusCode, reply, err
}

// post makes a call that must succeed, and decodes the reply.
func post(tb testing.TB, path, key, body string, reply any) {
	tb.Helper()
	status, text, err := call(tb.Context(), http.MethodPost, path, key, body)
	if err != nil || status >= 300 {
		tb.Fatalf("POST %s: %d %v\n%s", path, status, err, text)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(reply); err != nil {
		tb.Fatal(err)
	}
}
