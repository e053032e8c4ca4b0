package fixturetest_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"vayu/internal/fixturetest"
)

// What a template says stays, and what it does not say is filled in.
func TestACertificateIsWhatItsTemplateSays(t *testing.T) {
	t.Parallel()
	a, from := fixturetest.NewAuthority(t), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	got := a.Sign(&x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "receiver"}, NotBefore: from, NotAfter: from.Add(time.Hour),
	}).Leaf
	if got.SerialNumber.Int64() != 7 || got.Subject.CommonName != "receiver" || !got.NotBefore.Equal(from) || !got.NotAfter.Equal(from.Add(time.Hour)) {
		t.Errorf("number %s, of %s, from %s to %s", got.SerialNumber, got.Subject, got.NotBefore, got.NotAfter)
	}
	for _, bare := range []*x509.Certificate{a.Client().Leaf, a.Root.Leaf} {
		if bare.SerialNumber.Sign() <= 0 || bare.Subject.CommonName != "test" || bare.NotBefore.Year() != 1990 || bare.NotAfter.Year() != 2120 {
			t.Errorf("number %s, of %s, from %s to %s", bare.SerialNumber, bare.Subject, bare.NotBefore, bare.NotAfter)
		}
	}
}
