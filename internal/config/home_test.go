package config

import "testing"

func TestHome(t *testing.T) {
	tests := []struct{ system, home, profile, want string }{
		{"linux", "/home/ann", "", "/home/ann"},
		{"linux", "/home/ann", `C:\Users\ann`, "/home/ann"},
		{"linux", "", `C:\Users\ann`, ""},
		{"darwin", "/Users/ann", "", "/Users/ann"},
		{"windows", "", `C:\Users\ann`, `C:\Users\ann`},
		{"windows", "/c/Users/ann", `C:\Users\ann`, `C:\Users\ann`},
		{"windows", `D:\ann`, "", `D:\ann`},
		{"windows", "", "", ""},
	}
	for _, tt := range tests {
		env := map[string]string{"HOME": tt.home, "USERPROFILE": tt.profile}
		if got := homeOn(tt.system, func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}
