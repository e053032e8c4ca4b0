package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Service is the service under test. Its programs run in the folder dir, whose vayu.yaml they read.
type Service struct {
	dir, program  string
	clock         *Clock
	api, internal string // base URLs
	key           atomic.Pointer[Key]
	client        *http.Client
	cmd           *exec.Cmd
	ended         chan error
	issuer        *x509.Certificate
	issuerKey     *ecdsa.PrivateKey
	serial        int64
}

// Key is an API key.
type Key struct{ ID, Secret string }

// Vayu runs a command of the program and returns its standard output. `variables` are added to its environment.
func (s *Service) Vayu(ctx context.Context, variables []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir, cmd.Env = s.dir, append(s.environment(), variables...)
	var out, diagnosis bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnosis
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("vayu %s: %w: %s%s", strings.Join(args, " "), err, tail(out.String()), tail(diagnosis.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func tail(text string) string { return text[max(0, len(text)-600):] }

func (s *Service) environment() []string {
	return append(os.Environ(), "LD_PRELOAD="+filepath.Join(s.dir, "clock/clock.so"))
}

// Start starts the service and returns when it and its engine are ready.
func (s *Service) Start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command(s.program, "serve")
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = s.dir, s.environment(), log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan error) { ended <- cmd.Wait() }(s.cmd, s.ended)
	return eventually(ctx, 3*time.Minute, func() error {
		select {
		case err := <-s.ended:
			s.ended <- err
			return stop{fmt.Errorf("the service ended: %w", err)}
		default:
		}
		if _, err := s.get(ctx, s.internal+"/readyz"); err != nil {
			return err
		}
		_, err := s.Query(ctx, "analyst", "SELECT count() FROM city_hour") // /readyz does not wait for the engine
		return err
	})
}

// Stop ends the service gracefully.
func (s *Service) Stop() error {
	if s.cmd == nil {
		return nil
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		return errors.New("the service did not stop within a minute")
	}
}

// Upgrade stops the service, rotates the state store's encryption key with the new program, and starts that program.
func (s *Service) Upgrade(ctx context.Context, program string) error {
	if err := s.Stop(); err != nil {
		return fmt.Errorf("stopping for the upgrade: %w", err)
	}
	s.program = program
	if _, err := s.Vayu(ctx, nil, "encryption", "rotate"); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Certify writes a new key and certificate to NAME.key and NAME.pem. The first certificate issues all later ones.
func (s *Service) Certify(name string) error {
	s.serial++
	now := s.clock.Now()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(s.serial), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(90 * 24 * time.Hour), BasicConstraintsValid: true,
	}
	if s.issuer == nil {
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign
		s.issuer, s.issuerKey = c, private
	}
	der, err := x509.CreateCertificate(rand.Reader, c, s.issuer, &private.PublicKey, s.issuerKey)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	for file, block := range map[string]*pem.Block{".key": {Type: "PRIVATE KEY", Bytes: secret}, ".pem": {Type: "CERTIFICATE", Bytes: der}} {
		path := filepath.Join(s.dir, name+file)
		if err := os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// Serial returns the serial number of the certificate that the service presents to a new connection.
func (s *Service) Serial() (int64, error) {
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.api, "https://"), s.client.Transport.(*http.Transport).TLSClientConfig.Clone())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

// Call calls the API with the present key, and reads the reply into `into`, which may be nil.
func (s *Service) Call(ctx context.Context, method, path, body string, into any) error {
	_, err := s.CallAs(ctx, s.key.Load().Secret, method, path, body, into)
	return err
}

// CallAs calls the API with a key. It returns the HTTP status, and an error if the status is not 2xx.
func (s *Service) CallAs(ctx context.Context, key, method, path, body string, into any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.api+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	reply, err := s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	switch {
	case err != nil:
		return 0, err
	case reply.StatusCode/100 != 2:
		return reply.StatusCode, fmt.Errorf("%s %s: %s %.300s", method, path, reply.Status, text)
	case into == nil:
		return reply.StatusCode, nil
	}
	return reply.StatusCode, json.Unmarshal(text, into)
}

func (s *Service) get(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	return text(r)
}

// text sends a request without TLS, and returns the body of the reply. A status other than 200 is an error.
func text(r *http.Request) (string, error) {
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %.300s", r.URL.Path, reply.Status, body)
	}
	return string(body), err
}

// Query queries the engine over HTTP, as the user "analyst", or as "default", which may also read the system tables.
func (s *Service) Query(ctx context.Context, user, sql string) (string, error) {
	file := map[string]string{"analyst": "analyst.password", "default": "engine.password"}[user]
	password, err := os.ReadFile(filepath.Join(s.dir, "data", file))
	if err != nil {
		return "", err
	}
	address, err := os.ReadFile(filepath.Join(s.dir, "data/engine.port"))
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+strings.TrimSpace(string(address))+"/?database=vayu_sandbox&final=1", strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	r.SetBasicAuth(user, strings.TrimSpace(string(password)))
	answer, err := text(r)
	if err != nil {
		err = fmt.Errorf("querying the engine: %w", err)
	}
	return answer, err
}

type stop struct{ error }

// eventually calls `do` until `do` succeeds, `do` returns an error of type stop, or the time `limit` has passed.
func eventually(ctx context.Context, limit time.Duration, do func() error) error {
	for end := time.Now().Add(limit); ; {
		err := do()
		var final stop
		if err == nil || errors.As(err, &final) || time.Now().After(end) || pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// pause waits for the duration d in real time, not in the time of Clock. It returns the error of ctx if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
