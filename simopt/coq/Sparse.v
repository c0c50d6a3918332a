(** RMW-T22-sharp: the constant sqrt 2 of the bound on sparse approximations by covers of balls is best. *)

From Simopt Require Import Spaces.
From Coq Require ListDec.
Open Scope R_scope.

(** * Definitions *)

(** The combination of the points of a list with these weights; the convex hull of a list, and its points that are m-sparse: in the hull of
    at most m points of it. *)
Definition combination {E : space} (w : list R) (l : list E) : E := fold_right add zero (map (fun a => scale (fst a) (snd a)) (combine w l)).
Definition in_hull {E : space} (l : list E) (v : E) : Prop :=
  exists w, length w = length l /\ (forall c, In c w -> 0 <= c) /\ sum w = 1 /\ v = combination w l.
Definition sparse {E : space} (m : nat) (l : list E) (v : E) : Prop := exists few, incl few l /\ (length few <= m)%nat /\ in_hull few v.

(** Balls of radius r around k centres cover a list; the k-th entropy number of the list is the greatest lower bound of such radii. *)
Definition covered {E : space} (k : nat) (r : R) (l : list E) : Prop :=
  0 <= r /\ exists centres : list E, length centres = k /\ forall p, In p l -> exists c, In c centres /\ norm2 (minus p c) <= r ^ 2.
Definition entropy_number {E : space} (k : nat) (l : list E) (eps : R) : Prop :=
  (forall r, covered k r l -> eps <= r) /\ forall e, (forall r, covered k r l -> e <= r) -> e <= eps.

(** * Sequences of which the first d entries count, with their inner product *)

Definition dot (d : nat) (u v : nat -> R) : R := sum (map (fun j => u j * v j) (seq 0 d)).

Definition sequences (d : nat) : space.
Proof.
  refine (Space (nat -> R) (fun u v j => u j + v j) (fun c u j => c * u j) (dot d) (fun _ => 0) _ _ _ _ _); unfold dot; intros.
  - apply sum_ext. intros j _. ring.
  - rewrite <- sum_add. apply sum_ext. intros j _. ring.
  - rewrite <- sum_scale. apply sum_ext. intros j _. ring.
  - transitivity (0 * sum (map v (seq 0 d))); [rewrite <- sum_scale; apply sum_ext; intros j _; ring | ring].
  - apply sum_nonnegative. intros j _. apply Rle_0_sqr.
Defined.

(** * Lemmas *)

Lemma inner_combination {E : space} (x : E) w l : inner x (combination w l) = sum (map (fun a => fst a * inner x (snd a)) (combine w l)).
Proof.
  unfold combination. rewrite inner_symmetric. induction (combine w l) as [|a m IH]; cbn [map fold_right]; [apply inner_zero|].
  rewrite inner_add, inner_scale, sum_cons, IH, (inner_symmetric _ (snd a)). reflexivity.
Qed.

Lemma hull_level {E : space} (x : E) l v c : in_hull l v -> (forall p, In p l -> inner x p = c) -> inner x v = c.
Proof.
  intros [w [L [_ [S ->]]]] H. rewrite inner_combination. transitivity (c * sum w); [|rewrite S; ring]. clear S. revert l L H.
  induction w as [|a w IH]; intros [|p l] L H; try easy.
  - simpl. ring.
  - cbn [combine map fst snd]. rewrite !sum_cons. rewrite (H p (or_introl eq_refl)), IH; [ring | now injection L |].
    intros q Q. apply H. now right.
Qed.

(** A point is at least as far as any direction says. *)
Lemma far_by {E : space} (x u v : E) : 2 * (inner x v - inner x u) - norm2 x <= norm2 (minus u v).
Proof.
  generalize (inner_positive _ (add x (minus u v))). unfold norm2, minus.
  repeat rewrite ?inner_add, ?inner_add_right, ?inner_scale, ?inner_scale_right.
    rewrite (inner_symmetric _ u x), (inner_symmetric _ v x), (inner_symmetric _ v u).
  lra.
Qed.

Lemma few_are_indices {A} (p : nat -> A) few l : incl few (map p l) -> exists places, few = map p places /\ incl places l.
Proof.
  induction few as [|a few IH]; intros H; [now exists []|]. destruct IH as [places [-> I]]; [intros b B; apply H; now right|].
  assert (A0 : In a (map p l)) by (apply H; now left). apply in_map_iff in A0. destruct A0 as [j [<- J]]. exists (j :: places).
  split; [easy|]. intros i [<-|K]; auto.
Qed.

Lemma apart_lists {A} (l m : list A) : NoDup l -> NoDup m -> (forall a, In a l -> ~ In a m) -> NoDup (l ++ m).
Proof.
  intros L M. induction L as [|a l I L IH]; intros H; [easy|]. cbn [app]. constructor.
  - intros J. apply in_app_or in J. destruct J as [J|J]; [easy | now apply (H a (or_introl eq_refl))].
  - apply IH. intros b B. apply H. now right.
Qed.

(** * The set: N corners of a simplex, and k - 1 points at the distance n = N in directions of their own *)

Section Simplex.
Context (k N : nat) (K : (1 <= k)%nat) (large : (2 * k <= N)%nat).
Let n := INR N.
Let M := (N + (k - 1))%nat.
Let E := sequences M.
Let size (j : nat) : R := if j <? N then 1 else n.
Let point (j : nat) : E := fun i => if i =? j then size j else 0.
Let points : list E := map point (seq 0 M).
Let share (j : nat) : R := if j <? N then (1 - INR (k - 1) / n) / n else 1 / n.
Let omega : E := combination (map share (seq 0 M)) points.

Let n_large : 2 * INR k <= n.
Proof. unfold n. replace 2 with (INR 2) by reflexivity. rewrite <- mult_INR. now apply le_INR. Qed.
Let k_large : 1 <= INR k.
Proof. replace 1 with (INR 1) by reflexivity. now apply le_INR. Qed.
Let others : INR (k - 1) = INR k - 1.
Proof. rewrite minus_INR by easy. reflexivity. Qed.

Lemma size_positive j : 0 < size j.
Proof. unfold size. destruct (j <? N); lra. Qed.

Lemma inner_point (x : E) j : (j < M)%nat -> inner x (point j) = x j * size j.
Proof.
  intros J. change (dot M x (point j) = x j * size j). unfold dot, point.
  rewrite <- (sum_single (fun i => x i * size j) j (seq 0 M)); [|apply seq_NoDup | apply in_seq; lia].
  apply sum_ext. intros i _. destruct (i =? j); ring.
Qed.

Lemma inner_omega (x : E) : inner x omega = sum (map (fun j => share j * (x j * size j)) (seq 0 M)).
Proof.
  unfold omega. rewrite inner_combination. unfold points.
  assert (C : combine (map share (seq 0 M)) (map point (seq 0 M)) = map (fun j => (share j, point j)) (seq 0 M)).
  { generalize (seq 0 M). intros l. induction l as [|j l IH]; [easy|]. cbn [map combine]. now rewrite IH. }
  rewrite C, map_map. apply sum_ext. intros j J. cbn [fst snd]. rewrite inner_point; [easy | apply in_seq in J; lia].
Qed.

Lemma over_both (f : nat -> R) a b : (forall j, (j < N)%nat -> f j <= a j) -> (forall j, (N <= j < M)%nat -> f j <= b) ->
  sum (map f (seq 0 M)) <= sum (map a (seq 0 N)) + INR (k - 1) * b.
Proof.
  intros A B. unfold M. rewrite seq_app, map_app, sum_app. apply Rplus_le_compat.
  - apply sum_le. intros j J. apply A. apply in_seq in J. lia.
  - apply Rle_trans with (sum (map (fun _ => b) (seq N (k - 1)))); [|rewrite sum_constant, seq_length; apply Rle_refl].
    apply sum_le. intros j J. apply B. cbn in J. apply in_seq in J. unfold M. lia.
Qed.

Lemma omega_in_hull : in_hull points omega.
Proof.
  exists (map share (seq 0 M)). unfold points. rewrite !map_length. repeat split.
  - intros c C. apply in_map_iff in C. destruct C as [j [<- _]]. unfold share. destruct (j <? N).
    + apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
      assert (INR (k - 1) / n <= 1); [|lra]. apply (Rmult_le_reg_r n); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
  - unfold M. rewrite seq_app, map_app, sum_app. cbn [Nat.add].
    rewrite (sum_ext share (fun _ => (1 - INR (k - 1) / n) / n) (seq 0 N)), (sum_ext share (fun _ => 1 / n) (seq N (k - 1))).
    + rewrite !sum_constant, !seq_length. fold n. field. lra.
    + intros j J. apply in_seq in J. unfold share. destruct (Nat.ltb_spec j N); [lia | easy].
    + intros j J. apply in_seq in J. unfold share. destruct (Nat.ltb_spec j N); [easy | lia].
Qed.

Lemma covered_by_one : covered k 1 points.
Proof.
  split; [lra|]. exists (zero :: map point (seq N (k - 1))). split; [cbn [length]; rewrite map_length, seq_length; lia|].
  intros p P. apply in_map_iff in P. destruct P as [j [<- J]]. apply in_seq in J. destruct (Nat.lt_ge_cases j N) as [L|L].
  - exists zero. split; [now left|]. unfold norm2, minus. repeat rewrite ?inner_add, ?inner_add_right, ?inner_scale, ?inner_scale_right.
    rewrite !inner_zero, (inner_symmetric _ (point j) zero), inner_zero, inner_point by easy. unfold point, size. rewrite Nat.eqb_refl.
    destruct (Nat.ltb_spec j N); [lra | lia].
  - exists (point j). split; [right; apply in_map, in_seq; unfold M in J; lia|]. unfold norm2, minus.
    repeat rewrite ?inner_add, ?inner_add_right, ?inner_scale, ?inner_scale_right. lra.
Qed.

(** One of k balls holds two of k + 1 corners, which are at the distance sqrt 2. *)
Lemma radius_at_least r : covered k r points -> 1 / 2 <= r.
Proof.
  intros [R0 [centres [L C]]].
  assert (I : forall m, (m <= N)%nat -> exists places, length places = m /\ incl places (seq 0 k) /\
    forall j, (j < m)%nat -> norm2 (minus (point j) (nth (nth j places 0%nat) centres zero)) <= r ^ 2).
  { induction m as [|m IH]; intros H; [exists []; repeat split; [easy | lia]|]. destruct IH as [places [P [Q F]]]; [lia|].
    destruct (C (point m)) as [c [I B]]; [apply in_map, in_seq; unfold M; lia|].
    destruct (In_nth _ _ zero I) as [i [Hi <-]]. exists (places ++ [i]). rewrite app_length, P. repeat split; [cbn [length]; lia | |].
    - intros a A. apply in_app_or in A. destruct A as [A|[<-|[]]]; [now apply Q | apply in_seq; lia].
    - intros j J. destruct (Nat.eq_dec j m) as [->|]; [now rewrite <- P, nth_middle, P | rewrite app_nth1 by lia; apply F; lia]. }
  destruct (I (S k) ltac:(lia)) as [places [P [Q F]]].
  assert (T : exists i j, (i < j < S k)%nat /\ nth i places 0%nat = nth j places 0%nat).
  { destruct (ListDec.NoDup_dec Nat.eq_dec places) as [U|U].
    - apply (NoDup_incl_length U) in Q. rewrite P, seq_length in Q. lia.
    - rewrite <- P. clear -U. induction places as [|a l IH]; [exfalso; apply U; constructor|].
      destruct (in_dec Nat.eq_dec a l) as [A|A].
      + destruct (In_nth _ _ 0%nat A) as [j [J E0]]. exists 0%nat, (S j). cbn [nth length]. split; [lia | easy].
      + destruct IH as [i [j [J E0]]]; [intros V; apply U; now constructor|]. exists (S i), (S j). cbn [nth length]. split; [lia | easy]. }
  destruct T as [i [j [J H]]]. generalize (F i ltac:(lia)) (F j ltac:(lia)). rewrite <- H. set (c := nth _ centres zero). intros X Y.
  generalize (inner_positive _ (minus (add (point i) (point j)) (scale 2 c))).
  assert (Pi : inner (point i) (point i) = 1).
  { rewrite inner_point by (unfold M; lia). unfold point, size. rewrite Nat.eqb_refl. destruct (Nat.ltb_spec i N); [ring | lia]. }
  assert (Pj : inner (point j) (point j) = 1).
  { rewrite inner_point by (unfold M; lia). unfold point, size. rewrite Nat.eqb_refl. destruct (Nat.ltb_spec j N); [ring | lia]. }
  assert (O : inner (point i) (point j) = 0).
  { rewrite inner_point by (unfold M; lia). unfold point. destruct (Nat.eqb_spec j i); [lia | ring]. }
  revert X Y. unfold norm2, minus. repeat rewrite ?inner_add, ?inner_add_right, ?inner_scale, ?inner_scale_right.
  rewrite (inner_symmetric _ (point j) (point i)), (inner_symmetric _ c (point i)), (inner_symmetric _ c (point j)), Pi, Pj, O. intros. nra.
Qed.

Lemma entropy_between eps : entropy_number k points eps -> 1 / 2 <= eps <= 1.
Proof. intros [A B]. split; [apply B, radius_at_least | apply A, covered_by_one]. Qed.

Lemma entropy_number_exists : exists eps, entropy_number k points eps.
Proof.
  destruct (completeness (fun x => covered k (- x) points)) as [m [U L]].
  - exists 0. intros x [H _]. lra.
  - exists (-1). replace (- -1) with 1 by ring. apply covered_by_one.
  - exists (- m). split.
    + intros r H. assert (- r <= m); [|lra]. apply U. now rewrite Ropp_involutive.
    + intros e H. assert (m <= - e); [|lra]. apply L. intros x X. specialize (H _ X). lra.
Qed.

(** Without one of the far points nothing of them is nearer than 1; with all of them k + 1 corners are left. *)
Lemma simplex_far v : sparse (2 * k) points v -> 1 / (INR k + 1) - 5 / n <= norm2 (minus omega v).
Proof.
  intros [few [F [C H]]]. apply few_are_indices in F. destruct F as [places [-> P]]. rewrite map_length in C.
  assert (B : forall j, In j places -> (j < M)%nat) by (intros j J; apply P, in_seq in J; lia).
  set (held := fun j => if in_dec Nat.eq_dec j places then true else false). set (lam := 1 / (INR k + 1)).
  assert (L : 0 < lam) by (apply Rdiv_lt_0_compat; lra). assert (L1 : lam * (INR k + 1) = 1) by (unfold lam; field; lra).
  destruct (forallb held (seq N (k - 1))) eqn:A.
  - set (x := (fun j => if held j then lam / size j else 0) : E).
    apply Rle_trans with (2 := far_by x omega v).
    rewrite (hull_level x _ v lam H).
    2:{ intros p I. apply in_map_iff in I. destruct I as [j [<- J]]. rewrite inner_point by auto. unfold x, held.
        destruct (in_dec _ _ _); [|easy]. field. generalize (size_positive j). lra. }
    assert (W : 2 * inner x omega + norm2 x <= INR (k + 1) * (2 * lam / n + lam * lam) + INR (k - 1) * (2 * lam / n + lam * lam / (n * n))).
    { rewrite inner_omega. change (norm2 x) with (dot M x x). unfold dot. rewrite <- sum_scale, <- sum_add.
      apply Rle_trans with (sum (map (fun j => if held j then 2 * lam / n + lam * lam else 0) (seq 0 N)) + INR (k - 1) * (2 * lam / n + lam * lam / (n * n))).
      - apply over_both; intros j J.
        + unfold x. destruct (held j); [|lra]. unfold size, share. destruct (Nat.ltb_spec j N); [|lia].
          replace (2 * ((1 - INR (k - 1) / n) / n * (lam / 1 * 1)) + lam / 1 * (lam / 1)) with (2 * lam / n + lam * lam - 2 * (INR (k - 1) * lam * / n * / n))
            by (field; lra).
          assert (0 <= INR (k - 1) * lam * / n * / n); [|lra].
          repeat apply Rmult_le_pos; try (left; apply Rinv_0_lt_compat; lra); lra.
        + unfold x. destruct (held j).
          * unfold size, share. destruct (Nat.ltb_spec j N); [lia|]. apply Req_le. field. lra.
          * rewrite !Rmult_0_l, Rmult_0_r, Rmult_0_r, Rplus_0_r.
            apply Rplus_le_le_0_compat; unfold Rdiv; apply Rmult_le_pos; try (left; apply Rinv_0_lt_compat); nra.
      - apply Rplus_le_compat_r. rewrite sum_chosen. apply Rmult_le_compat_r.
        + apply Rplus_le_le_0_compat; [unfold Rdiv; apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] | nra].
        + apply le_INR. assert (D : (length (filter held (seq 0 N) ++ seq N (k - 1)) <= length places)%nat).
          { apply NoDup_incl_length.
            - apply apart_lists; [apply NoDup_filter, seq_NoDup | apply seq_NoDup |].
              intros j J. apply filter_In in J. destruct J as [J _]. apply in_seq in J. intros I. apply in_seq in I. lia.
            - intros j J. apply in_app_or in J. assert (Q : held j = true).
              { destruct J as [J|J]; [now apply filter_In in J | rewrite forallb_forall in A; now apply A]. }
              unfold held in Q. now destruct (in_dec _ _ _). }
          rewrite app_length, seq_length in D. lia. }
    assert (G : 0 <= / n <= 1).
    { split; [left; apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
    rewrite plus_INR, others in W. cbn [INR] in W. unfold Rdiv in W |- *. rewrite Rinv_mult in W. set (i := / n) in *.
    assert (INR k * lam <= 1) by lra. assert (lam * lam * (i * i) <= lam * i).
    { replace (lam * lam * (i * i)) with (lam * i * (lam * i)) by ring. assert (lam <= 1) by nra. assert (0 <= lam * i <= 1) by nra. nra. }
    fold (Rdiv 1 (INR k + 1)). fold lam. nra.
  - assert (X : exists j, In j (seq N (k - 1)) /\ held j = false).
    { clear -A. induction (seq N (k - 1)) as [|j l IH]; [easy|]. cbn [forallb] in A. destruct (held j) eqn:Hj.
      - destruct IH as [i [I Hi]]; [easy|]. exists i. split; [now right | easy].
      - exists j. split; [now left | easy]. }
    destruct X as [j [J O]]. apply in_seq in J.
    assert (U : forall i, In i places -> i <> j) by (intros i I ->; unfold held in O; now destruct (in_dec _ _ _)).
    set (x := (fun i => if i =? j then -1 else 0) : E).
    apply Rle_trans with (2 := far_by x omega v). rewrite (hull_level x _ v 0 H).
    2:{ intros p I. apply in_map_iff in I. destruct I as [i [<- I]]. rewrite inner_point by auto. unfold x.
        destruct (Nat.eqb_spec i j); [now apply U in I | ring]. }
    assert (JM : (j < M)%nat) by (unfold M; lia).
    assert (V : inner x omega = -1).
    { rewrite inner_omega. rewrite (sum_ext _ (fun i => if i =? j then - (share i * size i) else 0)).
      - rewrite sum_single; [|apply seq_NoDup | apply in_seq; lia]. unfold share, size. destruct (Nat.ltb_spec j N); [lia|]. field. lra.
      - intros i _. unfold x. destruct (i =? j); ring. }
    assert (T : norm2 x = 1).
    { change (norm2 x) with (dot M x x). unfold dot. rewrite (sum_ext _ (fun i => if i =? j then 1 else 0)).
      - rewrite sum_single; [easy | apply seq_NoDup | apply in_seq; lia].
      - intros i _. unfold x. destruct (i =? j); ring. }
    rewrite V, T. assert (lam <= 1) by nra. assert (0 < 5 / n) by (apply Rdiv_lt_0_compat; lra). fold lam. lra.
Qed.

Lemma such_a_set : exists (F : space) (l : list F) (o : F) eps, (2 * k <= length l)%nat /\ in_hull l o /\ entropy_number k l eps /\
  1 / 2 <= eps <= 1 /\ forall v, sparse (2 * k) l v -> 1 / (INR k + 1) - 5 / INR N <= norm2 (minus o v).
Proof.
  destruct entropy_number_exists as [eps X]. exists E, points, omega, eps. generalize (entropy_between eps X). intros. repeat split; try easy.
  - unfold points. rewrite map_length, seq_length. unfold M. lia.
  - exact omega_in_hull.
  - apply X.
  - apply X.
  - exact simplex_far.
Qed.
End Simplex.

(** * RMW-T22-sharp *)

(** For m = 2k, and any q < 1, there are a set and a point of its hull of which no m-sparse point is nearer than this. *)
Theorem RMW_T22_sharp k q : (1 <= k)%nat -> 0 <= q < 1 -> exists (E : space) (l : list E) (omega : E) eps,
  (2 * k <= length l)%nat /\ in_hull l omega /\ 0 < eps /\ entropy_number k l eps /\
  forall v, sparse (2 * k) l v -> q * (INR k / (INR k + 1)) * (2 * eps ^ 2 / INR (2 * k)) <= norm2 (minus omega v).
Proof.
  intros K Q. assert (K1 : 1 <= INR k) by (replace 1 with (INR 1) by reflexivity; now apply le_INR).
  destruct (beyond_any (5 * (INR k + 1) / (1 - q) + INR (2 * k))) as [N B].
  assert (D : 0 < 5 * (INR k + 1) / (1 - q)) by (apply Rdiv_lt_0_compat; lra). generalize (pos_INR (2 * k)). intros P.
  destruct (such_a_set k N K ltac:(apply INR_le; lra)) as [E [l [omega [eps [M [O [X [S F]]]]]]]].
  exists E, l, omega, eps. split; [easy|]. split; [easy|]. split; [lra|]. split; [easy|]. intros v V. apply Rle_trans with (2 := F v V).
  assert (A : 5 / INR N <= (1 - q) / (INR k + 1)).
  { apply (Rmult_le_reg_r (INR N)); [lra|]. replace (5 / INR N * INR N) with 5 by (field; lra).
    apply (Rmult_le_reg_r ((INR k + 1) / (1 - q))); [apply Rdiv_lt_0_compat; lra|].
    replace ((1 - q) / (INR k + 1) * INR N * ((INR k + 1) / (1 - q))) with (INR N) by (field; lra).
    replace (5 * ((INR k + 1) / (1 - q))) with (5 * (INR k + 1) / (1 - q)) by (field; lra). lra. }
  replace (q * (INR k / (INR k + 1)) * (2 * eps ^ 2 / INR (2 * k))) with (q * eps ^ 2 / (INR k + 1)) by (rewrite mult_INR; cbn [INR]; field; lra).
  assert (q * eps ^ 2 <= q) by (assert (eps ^ 2 <= 1) by nra; nra).
  assert (q * eps ^ 2 / (INR k + 1) <= q / (INR k + 1)).
  { unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra | easy]. }
  replace (1 / (INR k + 1)) with (q / (INR k + 1) + (1 - q) / (INR k + 1)) by (field; lra). lra.
Qed.

(** So the theorem holds with no constant below sqrt 2. *)
Theorem RMW_T22_constant c : 0 <= c < sqrt 2 -> ~ forall (E : space) k (l : list E) (omega : E) eps,
  (1 <= k)%nat -> (2 * k <= length l)%nat -> in_hull l omega -> entropy_number k l eps ->
  exists v, sparse (2 * k) l v /\ sqrt (norm2 (minus omega v)) <= c * eps / sqrt (INR (2 * k)).
Proof.
  intros C H. assert (C2 : c * c < 2). { generalize (sqrt_sqrt 2 ltac:(lra)). intros. nra. }
  destruct (beyond_any (1 + 2 * (c * c) / (2 - c * c))) as [k B].
  assert (D : 0 <= c * c / (2 - c * c)) by (unfold Rdiv; apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; lra]).
  assert (K1 : 1 < INR k) by (unfold Rdiv in *; lra). assert (K : (1 <= k)%nat) by (apply INR_le; cbn [INR]; lra).
  destruct (beyond_any (20 * (INR k + 1) / (2 - c * c) + INR (2 * k))) as [N G].
  assert (D' : 0 < 20 * (INR k + 1) / (2 - c * c)) by (apply Rdiv_lt_0_compat; lra). generalize (pos_INR (2 * k)). intros P.
  destruct (such_a_set k N K ltac:(apply INR_le; lra)) as [E [l [omega [eps [M [O [X [S F]]]]]]]].
  destruct (H E k l omega eps K M O X) as [v [V W]]. specialize (F v V).
  assert (A : 5 / INR N <= (2 - c * c) / 4 / (INR k + 1)).
  { apply (Rmult_le_reg_r (INR N)); [lra|]. replace (5 / INR N * INR N) with 5 by (field; lra).
    apply (Rmult_le_reg_r (4 * ((INR k + 1) / (2 - c * c)))); [assert (0 < (INR k + 1) / (2 - c * c)) by (apply Rdiv_lt_0_compat; lra); lra|].
    replace ((2 - c * c) / 4 / (INR k + 1) * INR N * (4 * ((INR k + 1) / (2 - c * c)))) with (INR N) by (field; lra).
    replace (5 * (4 * ((INR k + 1) / (2 - c * c)))) with (20 * (INR k + 1) / (2 - c * c)) by (field; lra). lra. }
  assert (T : INR (2 * k) = 2 * INR k) by (rewrite mult_INR; reflexivity).
  assert (Y : norm2 (minus omega v) <= c * c / (2 * INR k)).
  { generalize (inner_positive _ (minus omega v)). fold (norm2 (minus omega v)). intros Z.
    rewrite <- (sqrt_sqrt (norm2 (minus omega v)) Z). generalize (sqrt_pos (norm2 (minus omega v))). intros Z'.
    apply Rle_trans with (c * eps / sqrt (INR (2 * k)) * (c * eps / sqrt (INR (2 * k)))); [now apply Rmult_le_compat|].
    assert (R0 : 0 < sqrt (INR (2 * k))) by (apply sqrt_lt_R0; lra).
    replace (c * eps / sqrt (INR (2 * k)) * (c * eps / sqrt (INR (2 * k)))) with (c * c * (eps * eps) / (sqrt (INR (2 * k)) * sqrt (INR (2 * k)))) by
      (field; lra).
    rewrite sqrt_sqrt, T by lra. unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. rewrite <- (Rmult_1_r (c * c)) at 2.
    apply Rmult_le_compat_l; nra. }
  assert (Q : (2 + c * c) / 4 / (INR k + 1) <= c * c / (2 * INR k)).
  { replace (1 / (INR k + 1)) with ((2 + c * c) / 4 / (INR k + 1) + (2 - c * c) / 4 / (INR k + 1)) in F by (field; lra). lra. }
  apply (Rmult_le_compat_r (4 * INR k * (INR k + 1))) in Q; [|nra].
  replace ((2 + c * c) / 4 / (INR k + 1) * (4 * INR k * (INR k + 1))) with ((2 + c * c) * INR k) in Q by (field; lra).
  replace (c * c / (2 * INR k) * (4 * INR k * (INR k + 1))) with (2 * (c * c) * (INR k + 1)) in Q by (field; lra).
  apply (Rmult_lt_compat_r (2 - c * c)) in B; [|lra].
  replace ((1 + 2 * (c * c) / (2 - c * c)) * (2 - c * c)) with (2 - c * c + 2 * (c * c)) in B by (field; lra). lra.
Qed.
