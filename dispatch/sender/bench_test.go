package sender

import (
	"bytes"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/fixture"
)

// BenchmarkSend compares an attempt with a bare pooled http.Client that posts the same
// bytes and header to the same receiver in the same run. The receiver answers as fast
// as a connection can be read. "ratio" is attempts to posts a second, of 16 concurrent
// senders.
func BenchmarkSend(b *testing.B) {
	ca := fixture.NewAuthority(b)
	for name, config := range map[string]*tls.Config{"plain": nil, "tls": tlsConfig(ca.Server())} {
		b.Run(name, func(b *testing.B) {
			url := "http://" + listen(b, "127.0.0.1:0", config, fastReceiver)
			if config != nil {
				url = "https" + strings.TrimPrefix(url, "http")
			}
			p := signed(url)
			var floor, own float64
			b.Run("floor", func(b *testing.B) {
				client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
					MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{RootCAs: ca.Pool()},
				}}
				defer client.CloseIdleConnections()
				floor = rate(b, func() bool { return bare(client, p) })
			})
			b.Run("sender", func(b *testing.B) {
				s := New(Config{Roots: ca.Pool(), PerHost: 64})
				defer s.Close()
				own = rate(b, func() bool {
					r := s.Send(b.Context(), p)
					return r.OK()
				})
				if floor > 0 {
					b.ReportMetric(own/floor, "ratio")
				}
			})
		})
	}
}

// rate runs send in parallel and returns the calls a second.
func rate(b *testing.B, send func() bool) float64 {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(8)
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !send() {
				b.Error("a post failed")
				return
			}
		}
	})
	perSecond := float64(b.N) / time.Since(start).Seconds()
	b.ReportMetric(perSecond, "posts/s")
	return perSecond
}

func signed(url string) Post {
	return Post{
		URL: url + "/hooks/vayu",
		Header: http.Header{
			"Content-Type": {"application/json"}, "User-Agent": {"Vayu/1"}, "X-SERVICE-Event-Id": {"evt_01JABCDEFGHJKMNPQRSTVWXYZ0"},
			"X-SERVICE-Delivery-Id": {"dlv_01JABCDEFGHJKMNPQRSTVWXYZ0"}, "X-SERVICE-Attempt": {"1"}, "X-SERVICE-Mode": {"live"},
		},
		Body: bytes.Repeat([]byte("0123456789abcdef"), 32),
		Sign: func(time.Time) (string, error) { return signature, nil },
	}
}

var signature = "t=1700000000,v1=" + strings.Repeat("0123456789abcdef", 4)

func bare(client *http.Client, p Post) bool {
	req, err := http.NewRequest(http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return false
	}
	maps.Copy(req.Header, p.Header)
	req.Header["X-SERVICE-Signature"] = []string{signature}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

// fastReceiver answers each request that ends in the last bytes of signed's body. It
// does not parse HTTP, because it shares the cores with the measured code.
func fastReceiver(conn net.Conn) {
	buffer := make([]byte, 64<<10)
	n := 0
	for {
		m, err := conn.Read(buffer[n:])
		if err != nil {
			return
		}
		n += m
		end := bytes.Index(buffer[:n], []byte("\r\n\r\n"))
		if end < 0 || n < end+4+512 {
			continue
		}
		n = 0
		if _, err := io.WriteString(conn, fine); err != nil {
			return
		}
	}
}
