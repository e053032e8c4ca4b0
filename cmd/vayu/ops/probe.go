package ops

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
)

// Paths that a probe requests.
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// Limits of a probe. Container engines permit 30 seconds. That is too long for manual use, so probeTimeout is shorter.
// A reply usually has a few hundred bytes, and a probe reads at most maxProbeBody bytes.
const (
	probeTimeout = 3 * time.Second
	maxProbeBody = 4 << 10
)

type probeRequest struct {
	ready    bool
	timeout  time.Duration
	ca       string
	insecure bool
	internal bool
}

// NewProbe returns the command `vayu probe`.
func NewProbe() *cobra.Command {
	var r probeRequest
	cmd := &cobra.Command{
		Use:   "probe [URL]",
		Short: "Check that a service is live, or ready; exit with status 1 if not",
		Long: `Check that a service is live (/healthz) or, with --ready, ready for requests (/readyz). Print one
line, and end with status 1 when it is not. It is the health check of containers that have no other program.

URL is that of the service, or of the page to request. Without it the probe requests the service on this machine, at the
setting listen, by HTTPS when TLS is configured. It does not check the certificate, which is for another name.
With --internal it requests the internal listener (setting internal-listen), which has the status of each store and source.`,
		Example: `  vayu probe
  vayu probe --ready --internal
  vayu probe --ready http://10.0.0.7:8080
  vayu probe --ca /etc/vayu/ca.pem https://api.internal`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := r.target(cmd, args)
			if err != nil {
				return err
			}
			line, err := r.probe(cmd.Context(), target)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintln(cmd.OutOrStdout(), line)
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&r.ready, "ready", false, "check readiness, not only liveness")
	f.DurationVar(&r.timeout, "timeout", probeTimeout, "how long an answer may take")
	f.StringVar(&r.ca, "ca", "", "PEM file of authorities that are trusted beside the system's")
	f.BoolVar(&r.insecure, "insecure", false, "do not check the certificate")
	f.BoolVar(&r.internal, "internal", false, "without a URL: request the internal listener, which has details")
	settings.Bind(f, "listen", "internal-listen")
	return cmd
}

// target returns the URL to request. Without an argument, it takes the URL from the settings. The certificate is then
// for another host name, so target sets r.insecure, unless --ca is set.
func (r *probeRequest) target(cmd *cobra.Command, args []string) (string, error) {
	path := healthPath
	if r.ready {
		path = readyPath
	}
	if len(args) == 0 {
		loaded, _, err := settings.LoadQuietly(cmd)
		if err != nil {
			return "", err
		}
		base := loaded.LocalURL()
		if r.internal {
			if base = loaded.InternalURL(); base == "" {
				return "", errors.New("the setting internal-listen disables the internal listener")
			}
		}
		r.insecure = r.insecure || r.ca == ""
		return base + path, nil
	}
	u, err := url.Parse(args[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is not a URL such as http://127.0.0.1:8080", args[0])
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	return u.String(), nil
}

// probe sends one request, and returns the line to print about the reply.
func (r *probeRequest) probe(ctx context.Context, target string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return "", err
	}
	trust, err := r.tlsConfig()
	if err != nil {
		return "", err
	}
	client := http.Client{
		// The transport uses no proxy, because the probe requests this service itself.
		Transport:     &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	began := time.Now()
	reply, err := client.Do(request)
	if err != nil {
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // the message below has the URL
		}
		return "", fmt.Errorf("probing %s: %w", target, err)
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxProbeBody))
	if err != nil {
		return "", fmt.Errorf("probing %s: %w", target, err)
	}
	message := strings.Join(strings.Fields(string(body)), " ")
	if reply.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answered %s: %s", target, reply.Status, message)
	}
	return fmt.Sprintf("%s answered in %s: %s", target, time.Since(began).Round(100*time.Microsecond), message), nil
}

func (r *probeRequest) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: r.insecure} //nolint:gosec // only with --insecure, and for the service on this machine
	if r.ca == "" {
		return c, nil
	}
	text, err := os.ReadFile(r.ca)
	if err != nil {
		return nil, fmt.Errorf("reading --ca: %w", err)
	}
	if c.RootCAs, err = x509.SystemCertPool(); err != nil {
		c.RootCAs = x509.NewCertPool()
	}
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", r.ca)
	}
	return c, nil
}
