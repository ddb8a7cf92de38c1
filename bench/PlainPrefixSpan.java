// SPDX-License-Identifier: MIT
// PrefixSpan of itemsets in plain Java, like plain_prefixspan.py: what a compiled peer takes on sequences of itemsets.
// java PlainPrefixSpan.java FILE LEAST OUTPUT TIMES reads sequences of numbers in SPMF's form, writes each pattern with
// its support, as often as asked, and prints the number of patterns and the milliseconds of the fastest time.

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class PlainPrefixSpan {
    /** Rows, and where the leftmost match of a pattern ends in each. */
    static final class Ends {
        int[] rows = new int[16];
        int[] places = new int[16];
        int size = 0;

        void add(int row, int place) {
            if (size == rows.length) {
                rows = Arrays.copyOf(rows, 2 * size);
                places = Arrays.copyOf(places, 2 * size);
            }
            rows[size] = row;
            places[size++] = place;
        }
    }

    final int[][][] sequences;
    final int items;
    final int least;
    final BufferedWriter output;
    final int[] followed;
    final int[] joined;
    int serial = 0;
    int found = 0;

    PlainPrefixSpan(int[][][] sequences, int items, int least, BufferedWriter output) {
        this.sequences = sequences;
        this.items = items;
        this.least = least;
        this.output = output;
        followed = new int[items];
        joined = new int[items];
    }

    void grow(String prefix, int[] last, Ends ends) throws IOException {
        Ends[] following = new Ends[items];
        Ends[] joining = new Ends[items];
        extend(last, ends, following, joining);
        for (int item = 0; item < items; item++) {
            if (following[item] != null && following[item].size >= least) {
                String pattern = prefix + (last.length == 0 ? "" : " -1 ") + item;
                give(pattern, following[item].size);
                grow(pattern, new int[] {item}, following[item]);
            }
        }
        for (int item = 0; item < items; item++) {
            if (joining[item] != null && joining[item].size >= least) {
                String pattern = prefix + " " + item;
                int[] element = Arrays.copyOf(last, last.length + 1);
                element[last.length] = item;
                give(pattern, joining[item].size);
                grow(pattern, element, joining[item]);
            }
        }
    }

    void extend(int[] last, Ends ends, Ends[] following, Ends[] joining) {
        for (int entry = 0; entry < ends.size; entry++) {
            int row = ends.rows[entry];
            int end = ends.places[entry];
            int[][] elements = sequences[row];
            serial++;
            for (int place = Math.max(end, 0); place < elements.length; place++) {
                int[] element = elements[place];
                if (place > end) {
                    for (int item : element) {
                        note(following, followed, item, row, place);
                    }
                }
                if (last.length > 0 && element.length > last.length && holds(element, last)) {
                    for (int item : element) {
                        if (item > last[last.length - 1]) {
                            note(joining, joined, item, row, place);
                        }
                    }
                }
            }
        }
    }

    void note(Ends[] extensions, int[] seen, int item, int row, int place) {
        if (seen[item] == serial) {
            return;
        }
        seen[item] = serial;
        if (extensions[item] == null) {
            extensions[item] = new Ends();
        }
        extensions[item].add(row, place);
    }

    static boolean holds(int[] element, int[] last) {
        int index = 0;
        for (int item : element) {
            if (index < last.length && item == last[index]) {
                index++;
            }
        }
        return index == last.length;
    }

    void give(String pattern, int support) throws IOException {
        output.write(pattern + " -1 #SUP: " + support);
        output.newLine();
        found++;
    }

    static int[][][] read(Path file, int least) throws IOException {
        List<int[][]> rows = new ArrayList<>();
        List<int[]> elements = new ArrayList<>();
        Ends element = new Ends();
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                for (String token : line.split(" ")) {
                    int number = token.isEmpty() ? -3 : Integer.parseInt(token);
                    if (number >= 0) {
                        element.add(number, 0);
                    } else if (number == -1) {
                        elements.add(Arrays.copyOf(element.rows, element.size));
                        element.size = 0;
                    } else if (number == -2) {
                        rows.add(elements.toArray(new int[0][]));
                        elements.clear();
                    }
                }
            }
        }
        return dropRare(rows.toArray(new int[0][][]), least);
    }

    /** Without items that too few rows hold, which every peer leaves out first. */
    static int[][][] dropRare(int[][][] rows, int least) {
        int[] counts = new int[countItems(rows)];
        int[] seen = new int[counts.length];
        for (int row = 0; row < rows.length; row++) {
            for (int[] element : rows[row]) {
                for (int item : element) {
                    counts[item] += seen[item] == row + 1 ? 0 : 1;
                    seen[item] = row + 1;
                }
            }
        }
        for (int row = 0; row < rows.length; row++) {
            List<int[]> kept = new ArrayList<>();
            for (int[] element : rows[row]) {
                int[] frequent = Arrays.stream(element).filter(item -> counts[item] >= least).toArray();
                if (frequent.length > 0) {
                    kept.add(frequent);
                }
            }
            rows[row] = kept.toArray(new int[0][]);
        }
        return rows;
    }

    static int countItems(int[][][] rows) {
        int items = 0;
        for (int[][] row : rows) {
            for (int[] element : row) {
                for (int item : element) {
                    items = Math.max(items, item + 1);
                }
            }
        }
        return items;
    }

    static int run(Path file, int least, Path output) throws IOException {
        int[][][] sequences = read(file, least);
        Ends all = new Ends();
        for (int row = 0; row < sequences.length; row++) {
            all.add(row, -1);
        }
        try (BufferedWriter writer = Files.newBufferedWriter(output)) {
            PlainPrefixSpan miner = new PlainPrefixSpan(sequences, countItems(sequences), least, writer);
            miner.grow("", new int[0], all);
            return miner.found;
        }
    }

    public static void main(String[] arguments) throws IOException {
        int found = 0;
        double best = Double.MAX_VALUE;
        for (int time = 0; time < Integer.parseInt(arguments[3]); time++) {
            long begin = System.nanoTime();
            found = run(Path.of(arguments[0]), Integer.parseInt(arguments[1]), Path.of(arguments[2]));
            best = Math.min(best, (System.nanoTime() - begin) / 1e6);
        }
        System.out.println(found + " " + best);
    }
}
