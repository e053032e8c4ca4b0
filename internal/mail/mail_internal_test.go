package mail

import "testing"

func TestTLSIsMandatoryToOtherMachines(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"smtp://mail.example.com": "TLSMandatory", "smtp://u:p@192.0.2.1:25": "TLSMandatory",
		"smtp://localhost:25": "TLSOpportunistic", "smtp://127.0.0.1:25": "TLSOpportunistic", "smtp://[::1]:25": "TLSOpportunistic",
	} {
		client, err := newClient(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.TLSPolicy(); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
