package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes the files in root.  What ends with a slash is a directory, and
// "a -> b" is a link.
func write(t *testing.T, root string, files ...string) {
	t.Helper()
	for _, file := range files {
		link, to, isLink := strings.Cut(file, " -> ")
		path := filepath.Join(root, link)
		directory := filepath.Dir(path)
		if strings.HasSuffix(file, "/") {
			directory = path
		}
		err := os.MkdirAll(directory, 0o755)
		switch {
		case err != nil || directory == path:
		case isLink:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(file), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// filesIn returns the files below root, and its links as write takes them.
func filesIn(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if to, linkErr := os.Readlink(path); linkErr == nil {
			name += " -> " + to
		}
		files = append(files, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestALineIsRunAsBuildKitDoes(t *testing.T) {
	// As in Debian since its 13th release.
	base := []string{"usr/lib/", "lib -> usr/lib"}
	for _, test := range []struct {
		name    string
		line    string
		stage   []string
		want    []string // All files of the image.
		wantErr string
	}{
		{
			name:    "a directory cannot replace a link",
			line:    "COPY --from=build /root-of-image/ /",
			stage:   []string{"root-of-image/lib/libz.so.1"},
			wantErr: "cannot copy to non-directory",
		},
		{
			name:  "a directory goes where a link leads if the line names the link",
			line:  "COPY --from=build /root-of-image/lib /lib",
			stage: []string{"root-of-image/lib/libz.so.1"},
			want:  []string{"lib -> usr/lib", "usr/lib/libz.so.1"},
		},
		{
			name:  "a directory is made",
			line:  "COPY --from=build /libraries /usr/local/lib/sluice",
			stage: []string{"libraries/libz.so.1"},
			want:  []string{"lib -> usr/lib", "usr/local/lib/sluice/libz.so.1"},
		},
		{
			name:  "a slash at the end makes a directory",
			line:  "COPY --from=build /a /b /usr/local/bin/",
			stage: []string{"a", "b"},
			want:  []string{"lib -> usr/lib", "usr/local/bin/a", "usr/local/bin/b"},
		},
		{
			name:  "none makes a file",
			line:  "COPY --from=build /a /usr/local/bin/b",
			stage: []string{"a"},
			want:  []string{"lib -> usr/lib", "usr/local/bin/b"},
		},
		{
			name:    "a source that is missing is an error",
			line:    "COPY --from=build /missing /a",
			stage:   []string{"a"},
			wantErr: "no such file",
		},
		{
			name:    "a pattern that nothing matches is an error",
			line:    "COPY --from=build /missing* /a/",
			stage:   []string{"a"},
			wantErr: "nothing matches /missing*",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			stage, image := t.TempDir(), t.TempDir()
			write(t, stage, test.stage...)
			write(t, image, base...)
			lines, err := readCopyLines(
				strings.NewReader("FROM a AS build\nFROM b AS image\n"+test.line+"\n"), "image")
			if err != nil {
				t.Fatal(err)
			}
			err = lines[0].run(t.Context(), stage, image)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("got error %v, want one with %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, want := strings.Join(filesIn(t, image), "\n"), strings.Join(test.want, "\n")
			if got != want {
				t.Errorf("the image has:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestLinesThatCannotBeRunAreRefused(t *testing.T) {
	for _, test := range []struct{ name, line, wantErr string }{
		{"option", "COPY --from=a --chmod=755 /a /b", "option"},
		{"variable", "COPY --from=a /$NAME /b", "variable"},
		{"relative destination", "COPY --from=a /a b", "relative destination"},
		{"no line", "COPY a b", "copies nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readCopyLines(strings.NewReader("FROM b AS image\n"+test.line+"\n"), "image")
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got error %v, want one with %q", err, test.wantErr)
			}
		})
	}
}

// TestTheDockerfileCanBeRun needs no image: scripts/test-images runs its lines.
func TestTheDockerfileCanBeRun(t *testing.T) {
	for target, stage := range map[string]string{
		"sluiced": "build-daemon", "sluice-bridge": "build-bridge",
	} {
		file, err := os.Open("../../deploy/Dockerfile")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines, err := readCopyLines(file, target)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if line.stage != stage {
				t.Errorf("%s: copies from %s, want %s", line.text, line.stage, stage)
			}
		}
	}
}
